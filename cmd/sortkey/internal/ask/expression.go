package ask

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/transfer"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/design/terminal"
)

// ErrUsage marks errors in what the user typed.
var ErrUsage = errors.New("wrong usage")

// UsageError returns an error about what the user typed, which wraps [ErrUsage]. Its advice is help.
func UsageError(help, format string, args ...any) error {
	e := advice.New(help, format, args...)
	e.Err = ErrUsage
	return e
}

// usage wraps an error in an expression, so that it also matches [ErrUsage].
func usage(err error) error {
	if err == nil {
		return nil
	}
	return UsageError(advice.Of(err), "%v", err)
}

// Expression converts a condition as a person types it to the syntax of requests: it replaces each name and value in
// src with a placeholder, and adds the placeholder to p. It returns nil if src is empty. Lists, maps and sets in src
// are in plain JSON or DynamoDB JSON.
func Expression(p *literal.Placeholders, src string) (*string, error) {
	p.Composite = composite
	return convert(src, p.Expression)
}

// Projection converts the paths of a projection as [Expression] converts a condition.
func Projection(p *literal.Placeholders, paths ...string) (*string, error) {
	p.Composite = composite
	projection, err := convert(strings.Join(paths, ","), p.Paths)
	if err != nil {
		return nil, fmt.Errorf("--project: %w", err)
	}
	return projection, nil
}

// Update converts an update expression as [Expression] converts a condition.
func Update(p *literal.Placeholders, src string) (*string, error) {
	p.Composite = composite
	return convert(src, p.Update)
}

// composite parses the list, map or set at the beginning of src, and returns its length in bytes.
func composite(src string) (attr.Value, int, error) {
	v, length, err := transfer.CutValue(src)
	if err != nil {
		err = advice.New(
			`write lists as ["x", 1], maps as {"name": "x"} and sets in DynamoDB JSON, as {"SS": ["x"]}`,
			"%s is not a list, a map or a set: %v", terminal.Clip(src, 40), err,
		)
	}
	return v, length, err
}

// Parameter returns the value of a parameter of a PartiQL statement. The words true, false and null, a number, and a
// quoted string stand for themselves. Text that begins with { or [ must be a list, map or set as in expressions. Any
// other text is a string.
func Parameter(arg string) (attr.Value, error) {
	switch {
	case arg == "true" || arg == "false":
		return attr.NewBool(arg == "true"), nil
	case arg == "null":
		return attr.NewNull(), nil
	case strings.HasPrefix(arg, "{"), strings.HasPrefix(arg, "["):
		v, length, err := composite(arg)
		if err == nil && length < len(strings.TrimSpace(arg)) {
			err = advice.New("quote the text", "there is more after the value: %s", arg[length:])
		}
		return v, usage(err)
	case isQuoted(arg):
		s, err := unquote(arg)
		return attr.NewString(s), err
	}
	if v, err := attr.NewNumber(arg); err == nil {
		return v, nil
	}
	return attr.NewString(arg), nil
}

func convert(src string, place func(string) (string, error)) (*string, error) {
	if strings.TrimSpace(src) == "" {
		return nil, nil
	}
	out, err := place(src)
	if err != nil {
		return nil, usage(err)
	}
	return &out, nil
}
