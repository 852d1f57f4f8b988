package keycond

import "fmt"

// An Error says why a key condition is not one range, or why a value cannot be in a key. Message is the service's own
// text, a ValidationException. Look for it with errors.As to return the same error as the service.
type Error struct{ Message string }

// Error returns Message.
func (e *Error) Error() string { return e.Message }

func refuse(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }
