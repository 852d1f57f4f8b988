// Package mcp is a server of the Model Context Protocol, through which a language model works on one database. Its
// tools read and write items, explain requests, and check designs.
//
// A tool consists of an [operation.Operation], which determines its arguments, its description and its schema, and of
// the function that answers it.
//
// The server does not trust the language model with more than its user allows. It has tools that write only with
// [Options].Write. No tool reads a file: a design is the text of its model, or an embedded example. The server cuts
// an answer at [Options].MaxAnswer. An error has advice, and never ends the process.
//
// Source: https://modelcontextprotocol.io/specification
package mcp
