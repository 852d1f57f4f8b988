package keycond

import "fmt"

// An Error says why a key condition is not one range, or why a value cannot be in a key. Message is the text that the
// service sends with a ValidationException. To answer like the service, find the Error with errors.As and return its
// Message.
type Error struct{ Message string }

// Error returns Message.
func (e *Error) Error() string { return e.Message }

func refuse(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }
