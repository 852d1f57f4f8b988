// Package explain tells what a request reads: the range its key condition
// compiles to, the rows in it and just outside it, what it costs, and for a
// request that is not one range, which rule it breaks and what would work.
//
// [Run] puts the request to a [Target] and makes a [Report] of the answer. The
// range is compiled here from the description of the table, so it is known for
// any endpoint. The rows that a filter left out are seen by asking for the
// same pages without it. The rows just outside the range are asked for by
// queries with a Limit of 1, so an explanation reads somewhat more than the
// request itself.
package explain
