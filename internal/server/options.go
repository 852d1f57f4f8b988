package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/sortkey/sortkey/internal/admission"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/seeded"
)

// DefaultAddr is the address of a server that is given none: port 8000 of this
// machine only, as in DynamoDB Local.
const DefaultAddr = "127.0.0.1:8000"

// A Handler handles operations.
type Handler interface {
	// Serve handles one request. Target names the operation as on the wire,
	// "DynamoDB_20120810.PutItem"; body is the unpacked request. Serve appends
	// the response, a success or an error, to dst and returns it with its HTTP
	// status.
	//
	// With a negative status the connection is closed without an answer.
	//
	// Body and dst are reused: after it returns, Serve must not keep body, dst
	// or out, or anything that shares their bytes.
	Serve(ctx context.Context, target string, body, dst []byte) (out []byte, status int)
}

// Options configure [New], [Run] and [Serve]. The zero value is ready to use.
type Options struct {
	// Logger receives panics of the handler, with their stacks, and connection
	// errors. Default: discard.
	Logger *slog.Logger

	// Credentials maps access keys to secret keys. If it is not nil, every
	// request must carry a valid Signature Version 4, in its header or its
	// query string. Default: requests need no signature, and signatures are not
	// checked.
	Credentials map[string]string

	// Isolation says what of a request names the database that it is for, which the context
	// of the handler has (event.Database), after the signature has been checked if there are
	// Credentials. Default: nothing.
	Isolation Isolation

	// Open says that other machines are meant to reach the server without
	// credentials, so [Serve] does not warn about it.
	Open bool

	// CORS lists the origins whose pages may call the server from a browser,
	// such as "https://example.com"; "*" allows all of them. Requests of other
	// origins fail with status 403. Default: none.
	CORS []string

	// AllowHosts lists the values of the Host header, without port, that are
	// allowed besides names and addresses of loopback for requests without
	// credentials on a loopback address; "*" allows all. Default: none.
	AllowHosts []string

	// Health returns why requests are refused, or nil; GET /healthz answers
	// with it. Default: the server is healthy.
	Health func() error

	// Clock returns the time for checking signatures. Default: [time.Now].
	Clock func() time.Time

	// Observer sees every request. Default: none.
	Observer event.Observer

	// RequestID returns the id of the next response. Default: 52 characters
	// from [RequestIDs] with a random seed. It must be safe for concurrent use.
	RequestID func() string

	// MaxBodyBytes limits a request body, both as sent and unpacked. Default:
	// 16 MiB, the service's limit.
	MaxBodyBytes int

	// MaxHeaderBytes limits the request line and the headers together. Default:
	// 16 KiB, the service's limit.
	MaxHeaderBytes int

	// CompressBytes is the minimum length of responses that are compressed for
	// clients that accept it. Negative: never. Default: 4 KiB, as in the
	// service.
	CompressBytes int

	// MaxPendingBytes limits the memory of all request bodies together and,
	// separately, that of all answers that are being made or that clients have not
	// read yet. Beyond it, requests fail with status 503 and a Retry-After header.
	// Bodies and answers below 64 KiB are not counted. Default: 256 MiB.
	MaxPendingBytes int64

	// MaxRequests limits the requests handled at the same time; others wait.
	// Operations that read many items by their keys, such as BatchGetItem, count as
	// a quarter of the limit, because their answers may have tens of megabytes.
	// Default: 256.
	MaxRequests int

	// MaxConnections limits the open connections. At the limit, the one that has waited
	// longest for a request is closed for a new one; if all are busy, requests on
	// new ones fail with status 503, except for GET /healthz. Used by [Run] and
	// [Serve]. Default: half of the descriptors that the process may have, at most 4096.
	MaxConnections int
	// Connections counts the connections of [Run] and [Serve]. Default: nobody does.
	Connections *admission.Counts

	// Time-outs of one connection, used by [Run] and [Serve]: for reading the
	// headers, for reading the whole request, for reading and answering it, and
	// for waiting for the next one. Negative: no time-out. Defaults: 10 s, 60
	// s, 60 s, 120 s.
	ReadHeaderTimeout, ReadTimeout, WriteTimeout, IdleTimeout time.Duration

	// ShutdownTimeout is how long requests may continue after the context of
	// [Run] or [Serve] has ended. Requests that still run then are aborted.
	// Negative: they are aborted at once. Default: 5 s.
	ShutdownTimeout time.Duration
}

// maxConnections is the most connections that are open at a time by default.
const maxConnections = 4096

// Connections returns the default of [Options].MaxConnections.
func Connections() int { return min(maxConnections, Descriptors()/2) }

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.RequestID == nil {
		o.RequestID = seeded.RequestIDs(randomSeed())
	}
	defaultTo(&o.MaxBodyBytes, 16<<20)
	defaultTo(&o.MaxHeaderBytes, 16<<10)
	defaultTo(&o.MaxPendingBytes, 256<<20)
	defaultTo(&o.MaxRequests, 256)
	defaultTo(&o.MaxConnections, Connections())
	defaultTo(&o.CompressBytes, 4<<10)
	defaultTo(&o.ReadHeaderTimeout, 10*time.Second)
	defaultTo(&o.ReadTimeout, time.Minute)
	defaultTo(&o.WriteTimeout, time.Minute)
	defaultTo(&o.IdleTimeout, 2*time.Minute)
	defaultTo(&o.ShutdownTimeout, 5*time.Second)
	return o
}

func defaultTo[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}
