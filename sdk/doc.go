// Package sdk creates real DynamoDB clients of the AWS SDK for Go over a [sortkey.DB]. There is no socket and no
// mock: code under test keeps its *dynamodb.Client.
//
// A request goes one of two ways. The wire is the usual path without the socket: the SDK serialises and signs the
// request, the database's HTTP handler answers it, and the SDK parses the answer. The short way ends with the SDK's
// Initialize step: it turns typed input into typed output without JSON, in a third of the time or less. Both ways
// give the same answers; the same tests run through both.
//
// [Client] chooses a way for each call. It takes the short way if nothing that the caller added could observe the
// difference, and the wire otherwise. [Direct] always takes the short way for operations on items.
package sdk
