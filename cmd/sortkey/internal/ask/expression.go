package ask

import (
	"errors"
	"strings"

	"github.com/sortkey/sortkey/internal/advice"
	"github.com/sortkey/sortkey/internal/literal"
)

// ErrUsage marks errors in what the user typed.
var ErrUsage = errors.New("wrong usage")

func usageError(help, format string, args ...any) error {
	e := advice.New(help, format, args...)
	e.Err = ErrUsage
	return e
}

// usage marks an error of an expression with [ErrUsage].
func usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError(advice.Of(err), "%v", err)
}

// Expression returns a condition or a projection with its names and values written out as
// requests take it, and nil for an empty one.
func Expression(p *literal.Placeholders, src string) (*string, error) {
	return convert(src, p.Expression)
}

// Update returns an update with its names and values written out as requests take it.
func Update(p *literal.Placeholders, src string) (*string, error) { return convert(src, p.Update) }

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
