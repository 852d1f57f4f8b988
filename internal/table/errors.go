package table

import (
	"fmt"

	"github.com/sortkey/sortkey/attr"
)

// A Kind classifies an [Error].
type Kind uint8

// The kinds of failure.
const (
	// Validation is a request that can never succeed as it is.
	Validation Kind = iota + 1
	// NotFound is a table or index that does not exist.
	NotFound
	// InUse is a table that exists already or is being changed.
	InUse
	// LimitExceeded is a request above a limit of the account or table.
	LimitExceeded
	// ConditionFailed is a write whose condition did not hold.
	ConditionFailed
)

// An Error is a failure as the caller sees it.
type Error struct {
	Kind Kind
	// Msg is the service's text.
	Msg string
	// Item is the item a failed condition was evaluated on, nil when there is
	// none. It is valid until the function of the [Tx] returns.
	Item attr.Item
	// Start is true if the start key of a page is wrong.
	Start bool
	// Whole is true if a write with this error refuses the whole transaction that it is in, and not only cancels it.
	Whole bool
	// Err is the error of an expression that is the cause, or nil.
	Err error
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) Error() string { return e.Msg }

// Refusal marks the error as an answer to a request; see [DB.UpdateJoined].
func (e *Error) Refusal() {}

func invalid(format string, args ...any) error {
	return &Error{Kind: Validation, Msg: fmt.Sprintf(format, args...)}
}

// invalidWhole is invalid for a write that refuses the whole transaction that it is in.
func invalidWhole(format string, args ...any) error {
	return &Error{Kind: Validation, Msg: fmt.Sprintf(format, args...), Whole: true}
}

func invalidStart(format string, args ...any) error {
	return &Error{Kind: Validation, Msg: fmt.Sprintf(format, args...), Start: true}
}

// A MisuseError is the error of a program that uses a transaction wrongly. No request to the
// service can do that, so the service has no text for it.
type MisuseError struct{ msg string }

// Error says what to do, too.
func (e *MisuseError) Error() string { return "sortkey: " + e.msg }

// Refusal marks the error as one that has changed nothing; see [DB.UpdateJoined].
func (e *MisuseError) Refusal() {}

// Misuse marks the error as a fault of the calling program.
func (e *MisuseError) Misuse() {}

// NoSuchTable is the error for a table that does not exist, as data operations
// word it.
func NoSuchTable() error {
	return &Error{Kind: NotFound, Msg: "Requested resource not found"}
}

// errKey is the error for a key that has other attributes than the schema.
func errKey() error { return invalid("The provided key element does not match the schema") }
