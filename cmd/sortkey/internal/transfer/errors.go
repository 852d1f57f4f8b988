package transfer

import (
	"errors"
	"fmt"
	"strings"
)

// An Error is what went wrong with what to do about it.
type Error struct {
	// Msg is a sentence without a full stop, Hint the advice; it may be empty.
	Msg, Hint string
	// Err is the cause, if there is one.
	Err error
}

// Error returns what went wrong, without the advice.
func (e *Error) Error() string { return e.Msg }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func fail(hint, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Msg: err.Error(), Hint: hint, Err: errors.Unwrap(err)}
}

// maxReason bounds the text of why a line was refused, in bytes.
const maxReason = 500

// reason is the text of an error for the report of refused lines.
func reason(err error) string {
	text := strings.TrimPrefix(err.Error(), "jsontext: ")
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + "…"
	}
	return text
}
