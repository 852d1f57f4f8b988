// Package operation defines the operations on items: query, get, scan, put, update, delete, sql and explain.
//
// An [Operation] has its params, its help, the function that makes its request from [Values], and the words for its
// answer. Commands, the tools of package mcp and the query box of pages all use these operations:
//
//	arguments of a line   Place ┐                       ┌ Send      pages through a client
//	flags                 To    ├ Values ─ Parse ─ Request ┤
//	arguments of a tool   To    │                       └ Question  in words (package ask)
//	fields of a form      Form  ┘
package operation
