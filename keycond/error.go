package keycond

import "fmt"

// An Error is a key condition that is not one range. Message is the service's own
// text, a ValidationException.
type Error struct{ Message string }

// Error implements error.
func (e *Error) Error() string { return e.Message }

func refuse(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }
