// Package server serves an operation handler over HTTP, like DynamoDB.
//
// [New] returns a [net/http.Handler] for a [Handler]. It reads and unpacks the body, finds the operation, checks the
// signature if [Options].Credentials are set, and sends the response with its checksum, request id and compression.
// [Run] serves the handler on an address until its context ends; [Transport] passes requests to it inside the
// process, without a socket.
//
// The behaviour follows DynamoDB's documentation, and recordings of DynamoDB in the test suites of dynalite
// (test/connection.js) and Alternator (test/alternator); the tests name their sources. The package does not know what
// operations do.
package server
