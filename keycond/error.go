package keycond

import "fmt"

// An Error says why a key condition is not one range, or why a value cannot be in a key. Message is the service's own
// text, a ValidationException. Look for it with errors.As to answer as the service does.
type Error struct{ Message string }

// Error returns Message.
func (e *Error) Error() string { return e.Message }

func refuse(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }
