package model

import (
	"cmp"
	"slices"
	"strings"
)

// A ParseError is an error in a model file.
type ParseError struct {
	Pos Pos
	Msg string
	// Hint says what to do; it may be empty.
	Hint string
}

// Error returns the place and the message, without the hint.
func (e *ParseError) Error() string { return e.Pos.String() + ": " + e.Msg }

// Errors are all errors in a model, in the order of the file.
type Errors []*ParseError

// Error returns each error on a line of its own, followed by a line with its hint.
func (e Errors) Error() string {
	var b strings.Builder
	for i, err := range e {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(err.Error())
		if err.Hint != "" {
			b.WriteString("\n  hint: " + err.Hint)
		}
	}
	return b.String()
}

// Unwrap returns the elements of e, for errors.Is and errors.As.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, err := range e {
		all[i] = err
	}
	return all
}

// Sort orders the errors by place.
func (e Errors) Sort() {
	slices.SortStableFunc(e, func(a, b *ParseError) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
}
