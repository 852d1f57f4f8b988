// Package wire implements the wire format of the service's operations: the
// shapes of inputs and outputs, their JSON, the constraints checked before a
// table is looked up, and errors with the service's messages.
//
// An [Op] is an operation; [Lookup] finds it by the X-Amz-Target header.
// DecodeJSON reads its input directly from the body, without reflection.
// Validate checks the input and reports all violated constraints of the service
// model in one [*Error]. The order of the following checks depends on the
// operation: CheckParams refuses parameters that exclude each other, and
// [Op.FaultError] reports [Faults], attribute values that are well formed but
// not allowed. AppendJSON encodes outputs, directly from binary items.
//
// Absent members of a shape are nil (an [attr.Value] of kind 0). An empty list,
// map or item that is present is not nil. Shapes own their bytes and share
// nothing with the request body.
//
// Only texts.go has messages that differ between operations or between regions
// of the service. The files *_gen.go are generated from the service model in
// ../apigen/model. Run go generate after changing the generator's tables.
package wire

//go:generate go run ../apigen -out .
