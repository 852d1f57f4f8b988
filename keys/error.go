package keys

import (
	"strconv"
	"strings"
)

// An Error says why a template, a type, a value or a key is refused. The parts
// that do not apply are empty.
type Error struct {
	// Template is the template's source, and Offset the byte in it where
	// reading it stopped; Offset means nothing in errors about values and keys.
	Template string
	Offset   int
	// Component is the name of the component, Type its type as templates
	// write it, and Value the value or the key that is refused.
	Component, Type, Value string
	// Msg says what is wrong and Advice what to do about it.
	Msg, Advice string
}

// Error returns where, what and what to do, on one line.
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

// clip quotes a value, and shortens one too long to read.
func clip(value string) string {
	const most = 80
	if len(value) <= most {
		return strconv.Quote(value)
	}
	return strconv.Quote(strings.ToValidUTF8(value[:most], "")) + "…"
}

// in returns err with the template and component it is about.
func in(err error, template, component string) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	e.Template, e.Component = template, component
	return e
}
