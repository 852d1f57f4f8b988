// Package server puts an operation handler on HTTP, as DynamoDB does.
//
// [New] makes an [net/http.Handler] of a [Handler]: it reads and unpacks the
// body, finds the operation, checks the signature if [Options].Credentials are
// given, and sends the answer with its checksum, request id and compression.
// [Run] serves that on an address until its context ends; [Transport] carries
// requests to it inside the process, without a socket.
//
// What the service does was taken from its documentation and from what the
// test suites of dynalite (test/connection.js) and Alternator
// (test/alternator) have recorded of it; tests name the source. The package
// knows nothing of what the operations mean.
package server
