// Package mcp is a server of the Model Context Protocol, through which a language model works on one database. Its
// tools read and write items, explain requests, and check designs.
//
// Each tool has an [operation.Operation] and a function. The operation determines the arguments, the description and
// the JSON schema of the tool. The function runs when the language model calls the tool.
//
// The server limits what the language model can do. It has tools that write only if [Options].Write is set. No tool
// reads a file: a design is the text of its model, or an embedded example. The server cuts an answer that is longer
// than [Options].MaxAnswer bytes. If a call fails, the answer is an error with advice, and the server continues.
//
// Source: https://modelcontextprotocol.io/specification
package mcp
