// Package gen writes code from a model of a key design.
//
// [Expression] writes the request of an access pattern as an AWS CLI command,
// as Go, as Python or as JavaScript, with the same expressions, names and
// values in each; [Request] does it for any request of the same operations.
//
// [Go] writes a Go file with typed functions for the keys of a model and for
// its access patterns. The file uses package keys to encode and to check
// values, and the AWS SDK for the types of requests.
package gen
