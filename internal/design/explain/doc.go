// Package explain describes what a request reads: the range of its key condition, the rows in that range and just
// outside it, and the cost. If a request does not read one range, the package says which rule the request breaks and
// what would work instead.
//
// [Parse] reads a [Question] from JSON. [Run] sends the request of the question to a [Target] and returns a [Report].
// It computes the range itself, from the description of the table, so it works with any DynamoDB endpoint.
//
// An explanation reads somewhat more than the request itself. To see the rows that a filter drops, it sends the
// request again without the filter. To find the rows just outside the range, it sends queries with a Limit of 1.
package explain
