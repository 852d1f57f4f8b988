// Package advice has the error that says what to do. Libraries say what is wrong
// and what would be right in their own terms; flags are named by commands alone.
package advice

import (
	"errors"
	"fmt"
)

// An Error is what went wrong, and what to do about it.
type Error struct {
	// Msg says what is wrong, Advice what to do; it may be empty. Neither ends
	// in a full stop.
	Msg, Advice string
	// Err is the cause, if there is one.
	Err error
}

// Error returns what is wrong, without the advice.
func (e *Error) Error() string { return e.Msg }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error with advice. A %w in the format is the cause.
func New(advice, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Msg: err.Error(), Advice: advice, Err: errors.Unwrap(err)}
}

// Of returns the advice of the first error in err's chain that has some.
func Of(err error) string {
	for err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return ""
		}
		if e.Advice != "" {
			return e.Advice
		}
		err = e.Err
	}
	return ""
}
