package attr

// An Error says why the service refuses a value; its text is the service's. Look for it with errors.As to return the
// same error as the service.
type Error struct {
	// Syntax is true for values of the wrong shape on the wire
	// (SerializationException); reading stops at such a value. It is false for
	// values that are well formed but not allowed (ValidationException); they
	// have been read to their end.
	Syntax bool
	// Msg is the text of PutItem, UpdateItem, DeleteItem, GetItem, BatchGetItem
	// and Query.
	Msg string
	// Older is the text of BatchWriteItem, Scan and the transactions, which
	// check values in an older layer of the service. It is empty when it equals
	// Msg. Source: dynamodb-conformance,
	// tests/tier3/error-messages/valueLayers.test.ts.
	Older string
}

// Error returns Msg.
func (e *Error) Error() string { return e.Msg }

func invalid(msg string) error { return &Error{Msg: msg} }

func syntax(msg string) error { return &Error{Syntax: true, Msg: msg} }

// ErrNesting is the error for values with more than [MaxNesting] levels. Test for it with errors.Is.
var ErrNesting error = &Error{Msg: msgNesting}
