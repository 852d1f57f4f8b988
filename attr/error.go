package attr

// An Error says why the service refuses a value; its text is the service's. Look for it with errors.As to return the
// same error as the service.
type Error struct {
	// Syntax is true for a value of the wrong shape on the wire (SerializationException): reading has stopped at that
	// value. Syntax is false for a value that is well formed but not allowed (ValidationException): the whole text
	// has been read.
	Syntax bool
	// Msg is the text that PutItem, UpdateItem, DeleteItem, GetItem, BatchGetItem and Query return.
	Msg string
	// Older is the text that BatchWriteItem, Scan and the transactions return, which check values in an older layer
	// of the service. It is empty when it equals Msg. Source: dynamodb-conformance,
	// tests/tier3/error-messages/valueLayers.test.ts.
	Older string
}

// Error returns Msg.
func (e *Error) Error() string { return e.Msg }

func invalid(msg string) error { return &Error{Msg: msg} }

func syntax(msg string) error { return &Error{Syntax: true, Msg: msg} }

// ErrNesting is the error for values with more than [MaxNesting] levels. Test for it with errors.Is.
var ErrNesting error = &Error{Msg: msgNesting}
