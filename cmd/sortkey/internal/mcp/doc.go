// Package mcp is a server of the Model Context Protocol, through which a language model works on one database. Its
// tools read and write items, explain requests, and check designs.
//
// Each tool has an [operation.Operation] and a function. The operation determines the arguments, the description and
// the JSON schema of the tool; the function answers its calls.
//
// The server limits what the language model can do. Only with [Options].Write does it have tools that write. No tool
// reads a file: a design is the text of its model, or an embedded example. The server cuts an answer at
// [Options].MaxAnswer. An error has advice, and never ends the process.
//
// Source: https://modelcontextprotocol.io/specification
package mcp
