// Package mcp is a server of the Model Context Protocol, through which a language model works on one
// database: its tools read and write items, explain requests, and check designs.
//
// A tool is a row: an [operation.Operation], from which its arguments, its description and its schema are
// made, and the function that answers it.
//
// The model at the other end is not trusted with more than its user meant to give it. There are tools that
// write only with [Options].Write; the model files that it names are those of one folder, which is an
// [os.Root]; an answer is cut at [Options].MaxAnswer; and an error, which never ends the process, says what
// to do.
//
// Source: https://modelcontextprotocol.io/specification
package mcp
