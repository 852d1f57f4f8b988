// Package advice defines the error that also says what to do. Libraries say
// what is wrong, and what would be right, in their own terms; only commands
// name flags.
package advice

import (
	"errors"
	"fmt"

	"github.com/sortkey/sortkey/internal/text"
)

// MaxText is the longest message and the longest advice about a file, in bytes. What is longer repeats the file.
const MaxText = 2000

// An Error says what went wrong and what to do about it.
type Error struct {
	// Msg says what is wrong, and Advice what to do; Advice may be empty.
	// Neither ends with a full stop.
	Msg, Advice string
	// Err is the cause, or nil.
	Err error
}

// Error returns e.Msg, without the advice.
func (e *Error) Error() string { return e.Msg }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error with advice. The argument of a %w in the format is the
// cause.
func New(advice, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Msg: err.Error(), Advice: advice, Err: errors.Unwrap(err)}
}

// Of returns the advice of the first error in err's chain that has advice.
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

// Bound returns an error of a reader whose message and advice are at most [MaxText] long: what a file has may
// be of any length.
func Bound(err error) error {
	if err == nil {
		return nil
	}
	msg, advice := err.Error(), Of(err)
	if len(msg) <= MaxText && len(advice) <= MaxText {
		return err
	}
	return &Error{Msg: text.Clip(msg, MaxText), Advice: text.Clip(advice, MaxText), Err: err}
}
