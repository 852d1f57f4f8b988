// Package hint has the error a person can act on: what went wrong, and what
// to do about it.
package hint

import "fmt"

// An Error is what went wrong, with what to do.
type Error struct {
	// Msg is the sentence without a full stop, Hint the advice; it may be empty.
	Msg, Hint string
	// Usage marks a command line that makes no sense, rather than an operation
	// that failed.
	Usage bool
	// Err is the cause, if there is one.
	Err error
}

// Error returns what went wrong, without the advice.
func (e *Error) Error() string { return e.Msg }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error with advice.
func New(advice, format string, args ...any) *Error {
	return &Error{Msg: fmt.Sprintf(format, args...), Hint: advice}
}

// Usage returns the error of a command line that makes no sense.
func Usage(advice, format string, args ...any) *Error {
	e := New(advice, format, args...)
	e.Usage = true
	return e
}
