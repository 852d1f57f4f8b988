package ask

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/internal/advice"
	"github.com/sortkey/sortkey/internal/literal"
	"github.com/sortkey/sortkey/internal/sdkvalue"
)

// placeholders are the placeholders in a request's expressions.
type placeholders struct{ literal.Placeholders }

func (p *placeholders) sdkValues() map[string]types.AttributeValue {
	values := p.Values()
	if values.Len() == 0 {
		return nil
	}
	return sdkvalue.Of(values)
}

// expression returns src, a filter or projection, with placeholders in place of
// the names and values written out.
func (p *placeholders) expression(src string) (string, error) {
	text, err := p.Expression(src)
	return text, usage(err)
}

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

// Fill returns an expression with its placeholders replaced, for people.
func Fill(expression string, names map[string]string, values map[string]types.AttributeValue) string {
	it, err := sdkvalue.Item(values)
	if err != nil {
		return expression
	}
	return literal.Write(expression, names, it)
}
