// Package ask builds queries from what a person types: a partition, a sort condition such as ">= 2024-01" or
// "root/photos/*", and a filter with values written out. [Query.Input] and [Query.ScanInput] return the request,
// [Key] returns the key of an item, and [Question] describes a request in words. [ReadRequest] parses a whole
// request.
//
// A person may put any value in quotes. A value needs quotes if it could also be a part of the syntax. Single quotes
// have one special character, the quote itself, which is doubled. Double quotes allow Go's escapes.
package ask
