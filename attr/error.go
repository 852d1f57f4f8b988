package attr

// An Error says why a value cannot be taken. Its text is the service's own.
type Error struct {
	// Syntax is true for values of the wrong shape on the wire, which the
	// service calls a SerializationException; reading stopped there. It is
	// false for values that are well formed and not allowed, a
	// ValidationException; they have been read to their end.
	Syntax bool
	// Msg is the text of PutItem, UpdateItem, DeleteItem, GetItem, BatchGetItem
	// and Query.
	Msg string
	// Older is the text of BatchWriteItem, Scan and the transactions, which
	// check values in an older way; it is empty when it is Msg. Source:
	// dynamodb-conformance, tests/tier3/error-messages/valueLayers.test.ts.
	Older string
}

func (e *Error) Error() string { return e.Msg }

// OlderMsg returns the text of the operations that check values in the older
// way.
func (e *Error) OlderMsg() string {
	if e.Older != "" {
		return e.Older
	}
	return e.Msg
}

func invalid(msg string) error { return &Error{Msg: msg} }

func syntax(msg string) error { return &Error{Syntax: true, Msg: msg} }

// ErrNesting is the error for values with more than [MaxNesting] levels.
var ErrNesting error = &Error{Msg: msgNesting}
