package sortkey

import "time"

// ServerOptions configure the HTTP side of a database. The zero value is ready
// to use.
type ServerOptions struct {
	// Credentials maps access keys to secret keys. If it is not nil, every
	// request must carry a valid Signature Version 4, in its header or its
	// query string. Default: requests need no signature, and signatures are not
	// checked.
	Credentials map[string]string

	// Open says that other machines are meant to reach the server without
	// credentials, so [DB.Serve] does not warn about it.
	Open bool

	// CORS lists the origins whose pages may call the server from a browser,
	// such as "https://example.com"; "*" allows all of them. Default: none.
	CORS []string

	// MaxBodyBytes limits a request body, both as sent and unpacked. Default:
	// 16 MiB, the service's limit.
	MaxBodyBytes int

	// MaxRequests limits the requests handled at the same time; others wait.
	// Default: no limit.
	MaxRequests int

	// MaxConnections limits the open connections; others wait to be accepted.
	// Default: no limit.
	MaxConnections int

	// Time-outs of one connection: for reading a whole request, for reading and
	// answering it, and for waiting for the next one. Negative: no time-out.
	// Defaults: 60 s, 60 s, 120 s.
	ReadTimeout, WriteTimeout, IdleTimeout time.Duration

	// ShutdownTimeout is how long requests may continue after the context of
	// [DB.Serve] has ended. Requests that still run then are aborted. Negative:
	// they are aborted at once. Default: 5 s.
	ShutdownTimeout time.Duration
}
