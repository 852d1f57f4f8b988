package wire

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
)

// An Op is an operation of the service.
type Op uint8

type operation struct {
	name, target     string
	writes, collects bool
}

// An Input is the input of an operation.
type Input interface {
	// DecodeJSON reads a request body into the input, which should be new. The error
	// is an [*Error], mostly a SerializationException; attribute values that are not
	// allowed are recorded in Faults.
	DecodeJSON(body []byte) error
	// Validate checks the constraints of the service model. The error is an [*Error],
	// one ValidationException for all violations.
	Validate() error
}

// A Request is an input that programs of this repository send: it knows its operation
// and has a JSON form, with the members in alphabetical order. A request with Faults has
// none: the values that are not allowed are missing.
type Request interface {
	Input
	Op() Op
	AppendJSON(dst []byte) []byte
}

// DecodeRequest decodes the body of a request of an operation that reads items: Query,
// Scan, GetItem or ExecuteStatement.
func DecodeRequest(op string, body []byte) (Request, error) {
	var in Request
	switch op {
	case "Query":
		in = new(QueryInput)
	case "Scan":
		in = new(ScanInput)
	case "GetItem":
		in = new(GetItemInput)
	case "ExecuteStatement":
		in = new(ExecuteStatementInput)
	default:
		return nil, UnknownOperation()
	}
	if err := in.DecodeJSON(body); err != nil {
		return nil, err
	}
	return in, nil
}

// An Output is the output of an operation.
type Output interface {
	// AppendJSON appends the body of the response.
	AppendJSON(dst []byte) []byte
}

// A Ref is a table that a request names, and perhaps an item in it.
type Ref struct {
	// Table is a name or an ARN, perhaps of the table's stream or of an index, as it
	// stands in the request: it may be empty or wrong.
	Table string
	// Key is the key of the item, or nil; Item is the whole item, or nil.
	Key, Item attr.Item
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

// Writes reports whether the operation writes items, whatever its input is. The
// operations that run statements of PartiQL may and are not among them.
func (op Op) Writes() bool { return int(op) < len(operations) && operations[op].writes }

// Collects reports whether the operation reads many items by their keys, so that its
// answer may have tens of megabytes.
func (op Op) Collects() bool { return int(op) < len(operations) && operations[op].collects }

// Target returns the value of the X-Amz-Target header for the operation.
func (op Op) Target() string {
	if int(op) < len(operations) {
		return operations[op].target
	}
	return ""
}

// commonExceptions are those that any operation may have and the service model does not
// list. Source: API_CommonErrors, DG/Programming.Errors.html.
var commonExceptions = []string{
	CodeAccessDenied, CodeSerialization, CodeUnavailable, CodeValidation,
	"ExpiredTokenException", "IncompleteSignatureException", "InternalFailure", "InternalServerError",
	"InvalidSignatureException", "MissingAuthenticationTokenException", "RequestExpired", "RequestLimitExceeded",
	"ThrottlingException", "UnrecognizedClientException",
}

// Exceptions returns the codes of the exceptions that the operation may have, sorted.
func (op Op) Exceptions() []string {
	list := slices.Clone(commonExceptions)
	if int(op) < len(exceptions) {
		list = append(list, exceptions[op]...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
