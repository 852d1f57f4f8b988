// Package operation is the table of the operations on items: query, get, scan, put, update, delete, sql and explain.
//
// An [Operation] is a row: its params, its help, how its request is made from [Values], and what its answer is called.
// Commands, the tools of package mcp and the query box of pages are made from the rows:
//
//	arguments of a line   Place ┐                       ┌ Send      pages through a client
//	flags                 To    ├ Values ─ Parse ─ Request ┤
//	arguments of a tool   To    │                       └ Question  in words (package ask)
//	fields of a form      Form  ┘
package operation
