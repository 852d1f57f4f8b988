// Package explain describes what a request reads: the range of its key
// condition, the rows in that range and just outside it, and the cost. For a
// request that is not one range, it says which rule the request breaks and what
// would work instead. [Run] sends the request of a [Question], which [Parse] reads
// from JSON, to a [Target] and returns a [Report]. It compiles the range from the
// description of the table, so any endpoint will do. To see the rows that a filter drops, it sends the request
// again without the filter. It finds the rows just outside the range with
// queries that have a Limit of 1. An explanation therefore reads somewhat more
// than the request itself.
package explain
