package ask

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/wire"
	"github.com/sortkey/sortkey/internal/advice"
	"github.com/sortkey/sortkey/internal/literal"
	"github.com/sortkey/sortkey/internal/sdkvalue"
)

// Placeholders stand for the names and values of a request's expressions.
type placeholders struct{ literal.Placeholders }

func (p *placeholders) sdkValues() map[string]types.AttributeValue {
	values := p.Values()
	if values.Len() == 0 {
		return nil
	}
	out := make(map[string]types.AttributeValue, values.Len())
	for name, v := range values.All() {
		out[string(name)] = sdkValue(v)
	}
	return out
}

func sdkValue(v attr.Value) types.AttributeValue {
	switch v.Kind() {
	case attr.Bool:
		return &types.AttributeValueMemberBOOL{Value: v.Bool()}
	case attr.Null:
		return &types.AttributeValueMemberNULL{Value: true}
	}
	return wire.Key(v)
}

// expression returns src, a filter or a projection with names and values
// written out, with placeholders for them.
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

// Fill returns an expression with its placeholders replaced by what they stand
// for, to be read by people.
func Fill(expression string, names map[string]string, values map[string]types.AttributeValue) string {
	it, err := sdkvalue.Item(values)
	if err != nil {
		return expression
	}
	return literal.Write(expression, names, it)
}
