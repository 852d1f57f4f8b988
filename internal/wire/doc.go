// Package wire is the form of the service's operations on the wire: the shapes
// of inputs and outputs, their JSON, the constraints that requests are held to
// before any table is looked up, and errors with the service's texts.
//
// An [Op] is one operation; [Lookup] finds it by the X-Amz-Target header. Its
// input is read with DecodeJSON, which streams the body into the shape without
// reflection, and checked with Validate, which reports all violated constraints
// of the service model in one [*Error]. What the service checks next has its
// place in the order of each operation: parameters that do not go together
// (CheckParams) and attribute values that are well formed but not allowed
// ([Faults], [Op.FaultError]). Outputs are appended with AppendJSON, straight
// from binary items.
//
// Absent members of a shape are nil (an [attr.Value] of kind 0); an empty list,
// map or item that was present is not nil. Shapes own their bytes and share
// nothing with the request body.
//
// Texts that differ between operations, or between regions of the service, are
// in texts.go and nowhere else. The files *_gen.go are generated from the
// service model in ../apigen/model, for the operations that are answered and
// for no others; run go generate after changing the generator's tables.
package wire

//go:generate go run ../apigen -out .
