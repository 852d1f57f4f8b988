// Package wire implements the wire format of the service's operations: the types of inputs and outputs, called
// shapes, their JSON, the constraints that are checked before a table is looked up, and errors with the service's
// messages.
//
// An [Op] is an operation; [Lookup] finds it by the X-Amz-Target header. DecodeJSON reads the operation's input
// directly from the body. Validate returns all violations of the service model's constraints in one [*Error]. Two
// more checks follow, in an order that depends on the operation: CheckParams returns an error for parameters that
// exclude each other, and [Op.FaultError] for [Faults], attribute values that are well formed but not allowed.
// AppendJSON encodes outputs, directly from binary items.
//
// Absent members of a shape are nil (an [attr.Value] of kind 0). An empty list, map or item that is present is not
// nil. Shapes own their memory and share none with the request body.
//
// The files *_gen.go are generated from the service model in ../apigen/model: Go types, whose tags name the other
// facts of the model about a member, and a table of these traits. With both, reflect.go reads, writes and checks any
// shape by reflection; shape.go builds the description of a type from tags and traits when it is first used. This is
// fast enough for rare requests, such as CreateTable, and quick to compile; generated code for each of 267 structures
// took most of the package's compile time. Ten frequent operations on items, and the shapes in them, have generated
// code: GetItem, PutItem, UpdateItem, DeleteItem, Query, Scan, BatchGetItem, BatchWriteItem, TransactGetItems and
// TransactWriteItems. Tests compare both ways with each other and with the model. Run go generate after changing the
// generator's tables.
//
// Only texts.go has messages that differ between operations or between regions of the service.
package wire

//go:generate go run ../apigen -out .
