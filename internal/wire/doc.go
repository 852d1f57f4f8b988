// Package wire implements the wire format of the service's operations. It has the types of inputs and outputs, called
// shapes, and converts them from and to JSON. It checks the constraints that do not depend on a table. It also has
// the errors with the service's messages.
//
// An [Op] is an operation; [Lookup] finds it by the X-Amz-Target header. [Decode] reads the operation's input
// directly from the body. [Validate] returns all violations of the service model's constraints in one [*Error]. Two
// more checks follow, in an order that depends on the operation. [Op.CheckParams] returns an error for parameters
// that exclude each other. [Op.FaultError] returns an error for [Faults], which are attribute values that are well
// formed but not allowed. [AppendJSON] encodes outputs, directly from binary items.
//
// Absent members of a shape are nil (an absent [attr.Value] has kind 0). An empty list, map or item that is present
// is not nil. Shapes own their memory and share none with the request body.
//
// The files *_gen.go are generated from the service model in ../apigen/model. They contain a Go type for each shape
// and a table of traits, which are facts of the model that the Go types cannot express. The tags of the struct fields
// name these traits. From the types and traits, shape.go builds the description of a type when it is first used. With
// that description, reflect.go reads, writes and checks any shape by reflection. Run go generate
// after changing the generator's tables.
//
// Messages that differ between operations or between regions of the service are all in texts.go.
package wire

//go:generate go run ../apigen -out .
