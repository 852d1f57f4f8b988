// Package ask turns what a person types into a query: a partition, a sort
// condition such as ">= 2024-01" or "root/photos/*", a filter with its values
// in it. [Query.Input] makes the request; [Question] puts a request back into
// words.
//
// A value may stand in quotes, and must when it could be taken for something
// else. Single quotes keep everything as it is, a quote inside being written
// twice; double quotes know the escapes of Go.
package ask
