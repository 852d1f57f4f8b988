package ask

import (
	"errors"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/wire"
)

// Texts holds the expressions of a request, and the names and values of their placeholders. An expression is nil if
// the request does not have it.
type Texts struct {
	names                         map[string]string
	values                        attr.Item
	condition, update, projection *string
}

// TextsOf returns the expressions of a request.
func TextsOf(in wire.Request) *Texts {
	switch in := in.(type) {
	case *wire.QueryInput:
		return &Texts{in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.FilterExpression, nil,
			in.ProjectionExpression}
	case *wire.ScanInput:
		return &Texts{in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.FilterExpression, nil,
			in.ProjectionExpression}
	case *wire.GetItemInput:
		return &Texts{in.ExpressionAttributeNames, nil, nil, nil, in.ProjectionExpression}
	case *wire.PutItemInput:
		return &Texts{in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.ConditionExpression, nil, nil}
	case *wire.UpdateItemInput:
		return &Texts{in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.ConditionExpression,
			in.UpdateExpression, nil}
	case *wire.DeleteItemInput:
		return &Texts{in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.ConditionExpression, nil, nil}
	}
	return &Texts{}
}

// Message returns the service's message about the request with the names and values that the user typed in place of
// placeholders. If an expression has a syntax error, Message appends the expression with a caret below the error.
func (t *Texts) Message(message string) string {
	fill := func(s string) string { return literal.Write(s, t.names, t.values) }
	message = fill(message)
	if src, pos, ok := t.Fault(); ok {
		message += "\n" + terminal.Caret(fill(src), len(fill(src[:pos])))
	}
	return message
}

// Fault returns the first expression that has a syntax error, and the offset of the error in bytes. If all
// expressions can be parsed, ok is false.
func (t *Texts) Fault() (src string, pos int, ok bool) {
	env, err := expr.NewEnv(expr.Params{Names: t.names, Values: t.values})
	if err != nil {
		return "", 0, false
	}
	if t.condition != nil {
		src = *t.condition
		_, err = env.Condition(expr.FilterExpression, src)
	}
	if err == nil && t.update != nil {
		src = *t.update
		_, err = env.Update(src)
	}
	if err == nil && t.projection != nil {
		src = *t.projection
		_, err = env.Projection(src)
	}
	wrong, ok := errors.AsType[*expr.Error](err)
	if !ok || wrong.Offset > len(src) {
		return "", 0, false
	}
	return src, wrong.Offset, true
}
