package keys

import (
	"strconv"
	"strings"
)

// An Error says why a template, a type, a value or a key is refused, and what to do. Look for it with errors.As to mark
// the component in an editor or a form. Fields that do not apply are empty.
type Error struct {
	// Template is the source of the template. In an error about the template itself, Offset is the byte in Template
	// where parsing stopped. Errors about values and keys do not use Offset.
	Template string
	Offset   int
	// Component is the name of the component, Type its type as written in
	// templates, and Value the refused value or key.
	Component, Type, Value string
	// Msg says what is wrong, and Advice what to do about it.
	Msg, Advice string
}

// Error returns the place, the message and the advice on one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Template != "" {
		b.WriteString("template " + strconv.Quote(e.Template) + ": ")
	}
	if e.Component != "" {
		b.WriteString("component " + e.Component + ": ")
	}
	b.WriteString(e.Msg)
	if e.Advice != "" {
		b.WriteString("; " + e.Advice)
	}
	return b.String()
}

// invalid returns an error about a value of t.
func invalid(t Type, value, why, advice string) *Error {
	return &Error{Type: t.String(), Value: value, Msg: clip(value) + " " + why, Advice: advice}
}

// clip quotes a value and truncates a long one.
func clip(value string) string {
	const most = 80
	if len(value) <= most {
		return strconv.Quote(value)
	}
	return strconv.Quote(strings.ToValidUTF8(value[:most], "")) + "…"
}

// in adds the template and the component to err.
func in(err error, template, component string) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	e.Template, e.Component = template, component
	return e
}
