package sortkey

import "time"

// ServerOptions configure the HTTP side of a database. The zero value is ready
// to use.
type ServerOptions struct {
	// Credentials maps access keys to secret keys. If it is not nil, every
	// request must carry a valid Signature Version 4, in its header or its query
	// string. Default: requests need no signature, and one that is there is not
	// looked at.
	Credentials map[string]string

	// Open says that the address is meant to be reached from other machines
	// without credentials, so that [DB.Serve] does not warn of it.
	Open bool

	// CORS lists the origins whose pages may call the server from a browser, as
	// "https://example.com"; "*" is all of them. Default: none.
	CORS []string

	// MaxBodyBytes bounds a request body, as sent and unpacked. Default: 16 MiB,
	// the service's limit.
	MaxBodyBytes int

	// MaxRequests bounds the requests worked on at a time; more wait for their
	// turn. Default: no bound.
	MaxRequests int

	// MaxConnections bounds the connections open at a time; more wait to be
	// accepted. Default: no bound.
	MaxConnections int

	// Time-outs of one connection: reading a whole request, reading and
	// answering it, and waiting for the next one. Negative: none. Defaults:
	// 60 s, 60 s, 120 s.
	ReadTimeout, WriteTimeout, IdleTimeout time.Duration

	// ShutdownTimeout is how long requests may go on after the context of
	// [DB.Serve] has ended; those still running then are broken off. Negative:
	// not at all. Default: 5 s.
	ShutdownTimeout time.Duration
}
