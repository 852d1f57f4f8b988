package wire

// An Op is an operation of the service.
type Op uint8

type operation struct{ name, target string }

// An Input is the input of an operation.
type Input interface {
	// DecodeJSON reads a request body into the input, which should be new. The error
	// is an [*Error], a SerializationException; attribute values that are not allowed
	// are recorded in Faults.
	DecodeJSON(body []byte) error
	// Validate checks the constraints of the service model. The error is an [*Error],
	// one ValidationException for all violations.
	Validate() error
}

// Lookup finds the operation that an X-Amz-Target header names, such as
// DynamoDB_20120810.PutItem. It returns false for names that the service does not
// have.
func Lookup(target string) (Op, bool) {
	op, ok := byTarget[target]
	return op, ok
}

// byTarget are the operations by their targets.
var byTarget = func() map[string]Op {
	m := make(map[string]Op, len(operations))
	for i, op := range operations {
		if i > 0 {
			m[op.target] = Op(i)
		}
	}
	return m
}()

// Operations returns the operations of the service, sorted by name.
func Operations() []Op {
	ops := make([]Op, 0, len(operations)-1)
	for i := range len(operations) - 1 {
		ops = append(ops, Op(i+1))
	}
	return ops
}

// String returns the name of the operation, such as PutItem.
func (op Op) String() string {
	if int(op) < len(operations) && op != 0 {
		return operations[op].name
	}
	return "UnknownOperation"
}

// Target returns the value of the X-Amz-Target header for the operation.
func (op Op) Target() string {
	if int(op) < len(operations) {
		return operations[op].target
	}
	return ""
}
