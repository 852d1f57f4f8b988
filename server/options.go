package server

import (
	"time"

	"github.com/sortkey/sortkey"
)

// Options configure [New]. The zero value is ready to use.
type Options struct {
	// Credentials maps access keys to secret keys. If it is not nil, every
	// request must carry a valid Signature Version 4, in its header or its
	// query string. Default: requests need no signature, and signatures are not
	// checked.
	Credentials map[string]string

	// Isolate, if positive, gives each access key a database of its own (or each other name that IsolateBy chooses).
	// [Server.Serve] creates the database at the first request with its name, as a fork of the server's database at
	// that time. So tests in any language can share a server without seeing each other if they use different keys.
	//
	// At most Isolate databases exist at a time. To create a further one, the server removes the database whose last
	// request is longest ago. If that was less than a minute ago, requests for the new database fail with
	// LimitExceededException. Requests that name no database use the server's database. Default: all requests use it.
	//
	// Each database has its buckets in a folder of its own in [sortkey.Options].S3Root. The folder has the name of
	// the database, escaped as in the path of a URL, or hashed if it is very long.
	Isolate int
	// IsolateBy says which part of a request names its database. "key" is the access key. "key,region" is KEY@REGION,
	// with the Region of the signature, which ARNs then contain. "path" is NAME in http://127.0.0.1:8000/NAME,
	// whatever the key. Default: "key".
	IsolateBy string
	// IsolateOptions, if not nil, may change the options of a database before it is created, such as StreamShards.
	// Several goroutines may call it at a time. Default: each database has the options of the server's database.
	IsolateOptions func(name string, o *sortkey.Options)
	// Open says that other machines are meant to reach the server without
	// credentials, so [Server.Serve] does not warn about it.
	Open bool

	// CORS lists the origins whose pages may call the server from a browser,
	// such as "https://example.com"; "*" allows all of them. Requests of other
	// origins fail with status 403. Default: none.
	CORS []string

	// AllowHosts lists further values of the Host header, without port, that the server accepts for requests without
	// credentials on a loopback address. It always accepts names and addresses of loopback there; "*" accepts all
	// values. Without this check a page in a browser could reach the server by making its own name resolve to this
	// machine. Default: none.
	AllowHosts []string

	// MaxBodyBytes limits a request body, both as sent and unpacked. Default: 16 MiB, DynamoDB's limit.
	MaxBodyBytes int

	// MaxPendingBytes limits the memory of all request bodies together. A second budget of the same size limits the
	// memory of all answers that the server is building or that clients have not read yet. Beyond the limit, requests
	// fail with status 503 and a Retry-After header. Bodies and answers below 64 KiB are not counted. Default: 256
	// MiB.
	MaxPendingBytes int64

	// MaxRequests limits the requests handled at the same time; others wait. An operation that reads many items by
	// their keys, such as BatchGetItem, takes a quarter of the limit, because its answer may have tens of megabytes.
	// Default: 256.
	MaxRequests int

	// MaxConnections limits the open connections. At the limit, the server closes the connection that has waited
	// longest for a request when a new one arrives. If all connections are busy, requests on new ones fail with
	// status 503, except for GET /healthz. Default: half of the descriptors that the process may have, at most 4096.
	MaxConnections int

	// Timeouts of one connection: ReadTimeout for reading a whole request, WriteTimeout for reading and answering it,
	// and IdleTimeout for waiting for the next one. Negative: no timeout. Defaults: 60 s, 60 s, 120 s.
	ReadTimeout, WriteTimeout, IdleTimeout time.Duration

	// ShutdownTimeout is how long requests may continue after the context of [Server.Serve] has ended; then the
	// server aborts them. Negative: it aborts them at once. Default: 5 s.
	ShutdownTimeout time.Duration
}
