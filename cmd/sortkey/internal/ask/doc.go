// Package ask builds queries from what a person types: a partition, a sort condition such as ">= 2024-01" or
// "root/photos/*", and a filter with values written out. [Query.Input] and [Query.ScanInput] return the request,
// [Key] returns the key of an item, and [Question] describes a request in words. [ReadRequest] parses a whole
// request.
//
// Values may be quoted, and must be if they could be read as something else. In single quotes only the quote itself
// is special: double it. Double quotes allow Go's escapes.
package ask
