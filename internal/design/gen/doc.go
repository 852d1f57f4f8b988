// Package gen generates code from a model of a key design. [Expression] returns
// the request of an access pattern as an AWS CLI command or as Go, Python or
// JavaScript code; [Request] does so for any request of the same operations.
// [Go] generates a Go file with typed functions for the keys and the access
// patterns of a model. The file uses package keys to encode and check values,
// and the AWS SDK for the types of requests. [Python] and [TypeScript] generate
// the same in one file, with what they need of package keys in it. [Missing]
// says which patterns have no function.
package gen
