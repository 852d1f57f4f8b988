// Package wire implements the wire format of the service's operations: the
// shapes of inputs and outputs, their JSON, the constraints checked before a
// table is looked up, and errors with the service's messages.
//
// An [Op] is an operation; [Lookup] finds it by the X-Amz-Target header.
// DecodeJSON reads its input directly from the body. Validate checks the input and reports all violated constraints of
// the service model in one [*Error]. The order of the following checks depends on the
// operation: CheckParams refuses parameters that exclude each other, and
// [Op.FaultError] reports [Faults], attribute values that are well formed but
// not allowed. AppendJSON encodes outputs, directly from binary items.
//
// Absent members of a shape are nil (an [attr.Value] of kind 0). An empty list,
// map or item that is present is not nil. Shapes own their bytes and share
// nothing with the request body.
//
// The files *_gen.go are generated from the service model in ../apigen/model:
// Go types, whose tags name what else the model says of a member, and a table of
// these traits. With both, reflect.go reads, writes and checks any shape by
// reflection; shape.go turns tags and traits into a description of a type when the
// type is first used. That suits requests that are rare, such as CreateTable, and
// costs those who compile this package little, where code for each of 267
// structures took most of its time. Ten operations on items are frequent enough
// for code of their own, with the shapes in them: GetItem, PutItem, UpdateItem,
// DeleteItem, Query, Scan, BatchGetItem, BatchWriteItem, TransactGetItems and
// TransactWriteItems. Tests hold both ways against each other and against the
// model. Run go generate after changing the generator's tables.
//
// Only texts.go has messages that differ between operations or between regions
// of the service.
package wire

//go:generate go run ../apigen -out .
