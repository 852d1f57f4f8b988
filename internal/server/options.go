package server

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/sortkey/sortkey/internal/admission"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/seeded"
)

// DefaultAddr is where a server listens if no address is given: port 8000 of this machine only, as in DynamoDB Local.
const DefaultAddr = "127.0.0.1:8000"

// A Handler handles operations.
type Handler interface {
	// Serve handles one request. Target names the operation as on the wire, "DynamoDB_20120810.PutItem"; body is the
	// unpacked request. Serve appends the response, a success or an error, to dst and returns it with its HTTP
	// status.
	//
	// If Serve returns a negative status, the server closes the connection without an answer.
	//
	// The server reuses body and dst: after it returns, Serve must not keep body, dst or out, or anything that shares
	// their bytes.
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

	// Isolation says which part of a request names its database. The context of the handler holds that name
	// (event.Database). If there are Credentials, the server checks the signature first. Default: no part.
	Isolation Isolation

	// Open says that other machines are meant to reach the server without
	// credentials, so [Serve] does not warn about it.
	Open bool

	// CORS lists the origins whose pages may call the server from a browser,
	// such as "https://example.com"; "*" allows all of them. Requests of other
	// origins fail with status 403. Default: none.
	CORS []string

	// AllowHosts lists further values of the Host header, without port, that the server accepts for requests without
	// credentials on a loopback address. It always accepts names and addresses of loopback there; "*" accepts all
	// values. Default: none.
	AllowHosts []string

	// Health returns the reason why the server cannot answer requests, or nil. GET /healthz answers with it. Default:
	// the server is healthy.
	Health func() error

	// Clock returns the time for checking signatures. Default: [time.Now].
	Clock func() time.Time

	// Observer sees every request. Default: none.
	Observer event.Observer

	// RequestID returns the id of the next response. Default: 52 characters
	// from [RequestIDs] with a random seed. It must be safe for concurrent use.
	RequestID func() string

	// MaxBodyBytes limits a request body, both as sent and unpacked. Default: 16 MiB, DynamoDB's limit.
	MaxBodyBytes int

	// MaxHeaderBytes limits the request line and the headers together. Default: 16 KiB, DynamoDB's limit.
	MaxHeaderBytes int

	// CompressBytes is the minimum length of responses that the server compresses for clients that accept it.
	// Negative: never. Default: 4 KiB, as in DynamoDB.
	CompressBytes int

	// MaxPendingBytes limits the memory of all request bodies together. A second budget of the same size limits the
	// memory of all answers that the server is building or that clients have not read yet. Beyond the limit, requests
	// fail with status 503 and a Retry-After header. Bodies and answers below 64 KiB are not counted. Default: 256
	// MiB.
	MaxPendingBytes int64

	// MaxRequests limits the requests handled at the same time; others wait. An operation that reads many items by
	// their keys, such as BatchGetItem, takes a quarter of the limit, because its answer may have tens of megabytes.
	// Default: 256.
	MaxRequests int

	// MaxConnections limits the open connections of [Run] and [Serve]. At the limit, the server closes the connection
	// that has waited longest for a request when a new one arrives. If all connections are busy, requests on new ones
	// fail with status 503, except for GET /healthz. Default: half of the descriptors that the process may have, at
	// most 4096.
	MaxConnections int
	// Connections counts the connections of [Run] and [Serve]. Default: they are not counted.
	Connections *admission.Counts

	// Timeouts of one connection, used by [Run] and [Serve]: ReadHeaderTimeout for reading the headers, ReadTimeout
	// for reading the whole request, WriteTimeout for reading and answering it, and IdleTimeout for waiting for the
	// next one. Negative: no timeout. Defaults: 10 s, 60 s, 60 s, 120 s.
	ReadHeaderTimeout, ReadTimeout, WriteTimeout, IdleTimeout time.Duration

	// ShutdownTimeout is how long requests may continue after the context of [Run] or [Serve] has ended; then the
	// server aborts them. Negative: it aborts them at once. Default: 5 s.
	ShutdownTimeout time.Duration
}

// maxConnections bounds the default of [Options].MaxConnections.
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
	*v = cmp.Or(*v, def)
}
