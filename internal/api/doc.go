// Package api answers the operations of the service, one file an operation.
//
// A [Service] takes the typed input of an operation, or with [Service.Serve]
// the body of a request, and returns the output or a [*wire.Error]. Each
// operation checks its input in the order in which the service does: the order
// of the lines in its function. Shapes, their JSON and their constraints are in
// package wire; package table reads and writes the items.
package api
