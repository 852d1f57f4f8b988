// Package sdk makes real DynamoDB clients of the AWS SDK for Go over a
// [sortkey.DB]. There is no socket and no mock: code under test keeps its
// *dynamodb.Client.
//
// A request goes one of two ways. The wire is the whole path but the socket: the SDK
// serialises and signs the request, the database's HTTP handler answers it, and the
// SDK parses the answer. The short way ends with the SDK's Initialize step, typed
// input to typed output without JSON, and takes a quarter of the time. Both give the
// same answers: one table of behaviours runs through them.
//
// [Client] chooses for each call: the short way if nothing that the caller added
// could observe it, the wire otherwise. [Direct] always takes the short way for
// operations on items.
package sdk
