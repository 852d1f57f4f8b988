package sortkey

import (
	"errors"
	"fmt"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/gate"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// ErrNotFound is returned by [TableOf.Get] for a key that no item has.
var ErrNotFound = errors.New("sortkey: no item with this key")

// ErrConditionFailed is what [errors.Is] finds in the error of a write whose condition does
// not hold. The [*Error] has the item as it is.
var ErrConditionFailed = errors.New("sortkey: the condition does not hold")

// ErrNoTable is what [errors.Is] finds in the error of an operation on a table that does not
// exist.
var ErrNoTable = errors.New("sortkey: no such table")

// ErrTrimmed is what [errors.Is] finds in the error of [TableOf.Changes] if changes that were
// not read are no longer kept. The error names the table.
var ErrTrimmed = errors.New("sortkey: changes were lost")

// An Error is an error of the service's: what DynamoDB answers to the same request.
type Error struct {
	// Code is the name of the exception, such as ValidationException.
	Code string
	// Message is the service's text.
	Message string
	// Item is the item whose condition failed, or nil if there is no item with the key.
	Item attr.Item

	cause error
}

// Error returns the code and the message.
func (e *Error) Error() string {
	if e.Message == "" {
		return e.Code
	}
	return e.Code + ": " + e.Message
}

// Is reports whether the error is what [ErrConditionFailed] or [ErrNoTable] stands for.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrConditionFailed:
		return e.Code == wire.CodeConditionFailed
	case ErrNoTable:
		return e.Code == "ResourceNotFoundException"
	}
	return false
}

// Unwrap returns the cause of an error that is not the request's fault, such as the end of
// its context.
func (e *Error) Unwrap() error { return e.cause }

// A DecodeError is the error for an item that does not fit the Go type that it is read into.
type DecodeError struct {
	Table string
	// Key is the primary key of the item.
	Key attr.Item
	// Err says which attribute does not fit, and why.
	Err error
}

// Error returns the table, the key as DynamoDB JSON, and the cause.
func (e *DecodeError) Error() string {
	return fmt.Sprintf("sortkey: item %s of table %s: %v", e.Key.AppendJSON(nil), e.Table, e.Err)
}

// Unwrap returns the cause, an [*attr.ConvertError].
func (e *DecodeError) Unwrap() error { return e.Err }

// failed returns the error of an operation in its public form. It leaves the errors of the
// caller's own functions as they are, whatever they wrap.
func failed(err error) error {
	switch e := err.(type) {
	case *wire.Error:
		if inside, ok := e.Err.(*gate.InsideError); ok { // no answer of the service
			return inside
		}
		return &Error{Code: e.Code, Message: e.Message, Item: e.Item, cause: e.Err}
	case *table.Error: // a transaction that has ended or only reads
		return &Error{Code: wire.CodeValidation, Message: e.Msg}
	}
	return err
}

// misuse is an error of a caller whose arguments make no request.
func misuse(format string, args ...any) error { return fmt.Errorf("sortkey: "+format, args...) }

// noContext is the error of a method that was called without a context.
func noContext(method string) error {
	return misuse("%s: the context is nil; pass context.Background() if there is no other", method)
}
