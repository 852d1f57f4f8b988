package server

import (
	"context"
	"log/slog"
	"time"

	"github.com/sortkey/sortkey/internal/event"
)

// DefaultAddr is where [Run] listens when it is given no address: port 8000 of
// this machine alone, as DynamoDB Local.
const DefaultAddr = "127.0.0.1:8000"

// A Handler answers operations.
type Handler interface {
	// Serve answers one request. Target names the operation as on the wire,
	// "DynamoDB_20120810.PutItem"; body is the unpacked request. The answer,
	// a success or an error, is appended to dst and returned with its HTTP
	// status.
	//
	// Body and dst are reused: Serve must not keep body, dst or out, or
	// anything that shares their bytes, after it returns.
	Serve(ctx context.Context, target string, body, dst []byte) (out []byte, status int)
}

// Options configure [New], [Run] and [Serve]. The zero value is ready to use.
type Options struct {
	// Logger receives panics of the handler, with their stacks, and errors of
	// connections. Default: discard.
	Logger *slog.Logger

	// Credentials maps access keys to secret keys. If it is not nil, every
	// request must carry a valid Signature Version 4, in its header or its
	// query string. Default: requests need no signature, and one that is
	// there is not looked at.
	Credentials map[string]string

	// Open says that the address is meant to be reached from other machines
	// without credentials, so that [Serve] does not warn of it.
	Open bool

	// CORS lists the origins whose pages may call the server from a browser,
	// as "https://example.com"; "*" is all of them. Default: none.
	CORS []string

	// Clock tells the time that signatures are checked against. Default:
	// [time.Now].
	Clock func() time.Time

	// Observer is told of every request. Default: none.
	Observer event.Observer

	// RequestID returns the id of the next answer, by default 52 characters
	// of [RequestIDs] with a random seed. It must be safe for concurrent use.
	RequestID func() string

	// MaxBodyBytes bounds a request body, as sent and unpacked. Default:
	// 16 MiB, the service's limit.
	MaxBodyBytes int

	// MaxHeaderBytes bounds the request line and the headers together.
	// Default: 16 KiB, the service's limit.
	MaxHeaderBytes int

	// CompressBytes is the length from which answers are compressed for
	// clients that ask for it. Negative: never. Default: 4 KiB, as the
	// service.
	CompressBytes int

	// MaxRequests bounds the requests worked on at a time; more wait for
	// their turn. Default: no bound.
	MaxRequests int

	// MaxConnections bounds the connections open at a time; more wait to be
	// accepted. Used by [Run] and [Serve]. Default: no bound.
	MaxConnections int

	// Time-outs of one connection, used by [Run] and [Serve]: reading the
	// headers, reading the whole request, reading and answering it, and
	// waiting for the next one. Negative: none. Defaults: 10 s, 60 s, 60 s,
	// 120 s.
	ReadHeaderTimeout, ReadTimeout, WriteTimeout, IdleTimeout time.Duration

	// ShutdownTimeout is how long requests may go on after the context of
	// [Run] or [Serve] has ended; those still running then are broken off.
	// Negative: not at all. Default: 5 s.
	ShutdownTimeout time.Duration
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.RequestID == nil {
		o.RequestID = RequestIDs(randomSeed())
	}
	defaultTo(&o.MaxBodyBytes, 16<<20)
	defaultTo(&o.MaxHeaderBytes, 16<<10)
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
