// Package sdk makes real DynamoDB clients of the AWS SDK for Go over a
// [sortkey.DB]. There is no socket and no mock: code under test keeps its
// *dynamodb.Client.
//
// [Client] sends each request through the SDK's transport to the database's
// HTTP handler, so serialisation and signing are tested too. [Direct] answers
// at the end of the SDK's Initialize step, typed input to typed output without
// JSON, which is several times faster; the SDK's own checks of inputs, its
// paginators, waiters and error types work as usual. Both give the same
// answers: one table of behaviours runs through them.
package sdk
