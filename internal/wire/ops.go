package wire

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
)

// An Op is an operation of the service.
type Op uint8

type operation struct {
	name  string
	input any // an empty input
	// streams is true for operations of DynamoDB Streams, which is a service of its own
	streams, writes, collects bool
}

// operations has the operations by Op, with their names.
var operations = func() []operation {
	list := slices.Clone(modelOperations[:])
	for i := range list[1:] {
		op := &list[i+1]
		op.name = cmp.Or(op.name, strings.TrimSuffix(reflect.TypeOf(op.input).Name(), "Input"))
	}
	return list
}()

// NewInput returns an empty input of the operation, or nil for the zero Op.
func (op Op) NewInput() Input {
	if op == 0 {
		return nil
	}
	return reflect.New(reflect.TypeOf(operations[op].input)).Interface()
}

// An Input is a pointer to the input of an operation, such as *PutItemInput.
type Input any

// A Request is an [Input] that this repository's own clients can send. It knows its operation. If a decoded Request
// has Faults, its JSON lacks the values that are not allowed.
type Request interface{ Op() Op }

// DecodeRequest decodes the body of a read request: Query, Scan, GetItem or ExecuteStatement.
func DecodeRequest(op string, body []byte) (Request, error) {
	if !slices.Contains([]string{"Query", "Scan", "GetItem", "ExecuteStatement"}, op) {
		return nil, UnknownOperation()
	}
	known, _ := Lookup(prefixTarget + op)
	in := known.NewInput().(Request)
	if err := Decode(body, in); err != nil {
		return nil, err
	}
	return in, nil
}

// An Output is a pointer to the output of an operation, such as *PutItemOutput.
type Output any

// A Ref is a table that a request names. It has the item or the key that the request has for that table, if any.
type Ref struct {
	// Table is the name or ARN in the request. It is unchecked, so it may be empty or wrong. The ARN may also be that
	// of the table's stream or of an index.
	Table string
	// Key is the key of an item, or nil. Item is a whole item, or nil.
	Key, Item attr.Item
}

// Lookup finds the operation for an X-Amz-Target header, such as DynamoDB_20120810.PutItem. It returns false if the
// service has no such operation.
func Lookup(target string) (Op, bool) {
	op, ok := byTarget[target]
	return op, ok
}

// byTarget has the operations by X-Amz-Target header.
var byTarget = func() map[string]Op {
	m := make(map[string]Op, len(operations))
	for _, op := range Operations() {
		m[op.Target()] = op
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

// known returns what is known about the operation: nothing if there is no such operation.
func (op Op) known() (o operation) {
	if int(op) < len(operations) {
		o = operations[op]
	}
	return o
}

// String returns the name of the operation, such as PutItem.
func (op Op) String() string { return cmp.Or(op.known().name, "UnknownOperation") }

// Writes reports whether the operation always writes items. It is false for operations that run PartiQL statements,
// as a statement may only read.
func (op Op) Writes() bool { return op.known().writes }

// Collects reports whether the operation is a batch or a transaction that can return many items. Its response may
// have tens of megabytes.
func (op Op) Collects() bool { return op.known().collects }

// prefixTarget is the prefix of X-Amz-Target headers, except for those of DynamoDB Streams.
const prefixTarget = "DynamoDB_20120810."

// Target returns the value of the X-Amz-Target header for the operation.
func (op Op) Target() string {
	switch o := op.known(); {
	case o.name == "":
		return ""
	case o.streams:
		return "DynamoDBStreams_20120810." + o.name
	default:
		return prefixTarget + o.name
	}
}

// commonExceptions are exceptions that any operation may return although the service model does not list them.
// Source: API_CommonErrors, DG/Programming.Errors.html.
var commonExceptions = []string{
	CodeAccessDenied, CodeSerialization, CodeUnavailable, CodeValidation,
	"ExpiredTokenException", "IncompleteSignatureException", "InternalFailure", "InternalServerError",
	"InvalidSignatureException", "MissingAuthenticationTokenException", "RequestExpired", "RequestLimitExceeded",
	"ThrottlingException", "UnrecognizedClientException",
}

// Exceptions returns the sorted codes of the exceptions that the operation may return.
func (op Op) Exceptions() []string {
	list := slices.Clone(commonExceptions)
	if int(op) < len(exceptions) {
		list = append(list, exceptions[op]...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
