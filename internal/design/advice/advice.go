// Package advice defines an error that also says what to do. Packages word their errors and advice without the flags
// of a command; commands add the names of their flags.
package advice

import (
	"errors"
	"fmt"

	"github.com/sortkey/sortkey/internal/text"
)

// MaxText is the maximum length, in bytes, of a message or of advice about a file. Longer text would only repeat the
// file.
const MaxText = 2000

// An Error says what went wrong and what to do about it.
type Error struct {
	// Msg says what is wrong. Advice says what to do; it may be empty. Neither ends with a full stop.
	Msg, Advice string
	// Err is the cause, or nil.
	Err error
}

// Error returns e.Msg, without the advice.
func (e *Error) Error() string { return e.Msg }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error with advice. The argument of %w in the format becomes its cause.
func New(advice, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Msg: err.Error(), Advice: advice, Err: errors.Unwrap(err)}
}

// Of returns the advice of the first error in err's chain that has advice, or "".
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

// Bound limits the message and the advice of err to [MaxText] bytes each. Readers of files call it, because their
// errors quote the file, and the quoted text may have any length.
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
