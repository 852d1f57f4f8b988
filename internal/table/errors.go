package table

import (
	"fmt"

	"github.com/sortkey/sortkey/attr"
)

// A Kind classifies an [Error].
type Kind uint8

// The kinds of failure.
const (
	// Validation means that the request can never succeed as it is.
	Validation Kind = iota + 1
	// NotFound means that the table or index does not exist.
	NotFound
	// InUse means that the table exists already or is being changed.
	InUse
	// LimitExceeded means that the request exceeds a limit of the account or table.
	LimitExceeded
	// ConditionFailed means that the condition of the write did not hold.
	ConditionFailed
)

// An Error is a failure as the caller sees it.
type Error struct {
	Kind Kind
	// Msg is the service's text.
	Msg string
	// Item is the item for which a condition failed, or nil. It is valid until the function of the [Tx] returns.
	Item attr.Item
	// Start is true if the start key of a page is wrong.
	Start bool
	// Whole is true if the error makes the service reject the whole transaction with a ValidationException, rather
	// than cancel it with a reason for each action.
	Whole bool
	// Err is the error of an expression that caused this one, or nil.
	Err error
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) Error() string { return e.Msg }

// Refusal marks the error as an answer to a request, rather than a failure of the store. The function passed to
// [DB.UpdateJoined] can handle such an error and continue, if the operation had written nothing.
func (e *Error) Refusal() {}

func invalid(format string, args ...any) error {
	return &Error{Kind: Validation, Msg: fmt.Sprintf(format, args...)}
}

// invalidWhole is invalid with [Error.Whole] set.
func invalidWhole(format string, args ...any) error {
	return &Error{Kind: Validation, Msg: fmt.Sprintf(format, args...), Whole: true}
}

func invalidStart(format string, args ...any) error {
	return &Error{Kind: Validation, Msg: fmt.Sprintf(format, args...), Start: true}
}

// A MisuseError means that the program uses a transaction wrongly. Requests to the service cannot cause this error,
// so the service has no text for it.
type MisuseError struct{ msg string }

// Error returns what is wrong and what to do about it.
func (e *MisuseError) Error() string { return "sortkey: " + e.msg }

// Refusal marks the error as an answer to a request that changed nothing. The function passed to [DB.UpdateJoined]
// can handle the error and continue.
func (e *MisuseError) Refusal() {}

// Misuse marks the error as a fault of the calling program.
func (e *MisuseError) Misuse() {}

// NoSuchTable returns the error for a table that does not exist, with the text of data operations.
func NoSuchTable() error {
	return &Error{Kind: NotFound, Msg: "Requested resource not found"}
}

// errKey returns the error for a key whose attributes differ from the schema.
func errKey() error { return invalid("The provided key element does not match the schema") }
