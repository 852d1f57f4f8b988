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

	// Isolate, if positive, gives each access key, or what IsolateBy says, a database of its own
	// when [Server.Serve] first sees it: a fork of this one as it is then. So tests of any
	// language that share a server but not a key do not see each other. At most this many
	// databases exist at a time. A further one takes the place of the one whose last request is
	// longest ago, which must be more than a minute; otherwise requests for it fail with
	// LimitExceededException. Requests that name no database use this one. Default: all do.
	//
	// The buckets of a database are the folders in a folder of its own in
	// [sortkey.Options].S3Root, which has the name of the database: escaped as in the path of a
	// URL, or hashed if it is very long.
	Isolate int
	// IsolateBy says what of a request names its database: "key", the access key; "key,region", KEY@REGION
	// with the Region of the signature, which is in ARNs then; or "path", NAME in
	// http://127.0.0.1:8000/NAME, whatever the key. Default: "key".
	IsolateBy string
	// IsolateOptions, if it is not nil, may change the options of a database before it is made,
	// such as StreamShards. It may be called by several goroutines at a time. Default: the options
	// of this database.
	IsolateOptions func(name string, o *sortkey.Options)
	// Open says that other machines are meant to reach the server without
	// credentials, so [Server.Serve] does not warn about it.
	Open bool

	// CORS lists the origins whose pages may call the server from a browser,
	// such as "https://example.com"; "*" allows all of them. Requests of other
	// origins fail with status 403. Default: none.
	CORS []string

	// AllowHosts lists the values of the Host header, without port, that are
	// allowed besides names and addresses of loopback for requests without
	// credentials on a loopback address; "*" allows all. Default: none. Without
	// this check a page in a browser could reach the server by making its own
	// name resolve to this machine.
	AllowHosts []string

	// MaxBodyBytes limits a request body, both as sent and unpacked. Default:
	// 16 MiB, the service's limit.
	MaxBodyBytes int

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
	// longest for a request is closed for a new one; if all are busy, requests on new
	// ones fail with status 503, except for GET /healthz. Default: half of the
	// descriptors that the process may have, at most 4096.
	MaxConnections int

	// Time-outs of one connection: for reading a whole request, for reading and
	// answering it, and for waiting for the next one. Negative: no time-out.
	// Defaults: 60 s, 60 s, 120 s.
	ReadTimeout, WriteTimeout, IdleTimeout time.Duration

	// ShutdownTimeout is how long requests may continue after the context of
	// [Server.Serve] has ended. Requests that still run then are aborted. Negative:
	// they are aborted at once. Default: 5 s.
	ShutdownTimeout time.Duration
}
