package ask

import (
	"encoding/json"
	"errors"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/wire"
)

// Texts are the expressions of a request, and the names and values of their placeholders, as members of its JSON. An
// expression is "" if the request does not have it.
type Texts struct {
	KeyConditionExpression, FilterExpression, ProjectionExpression, UpdateExpression, ConditionExpression string

	Statement                 string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues json.RawMessage
}

// TextsOf returns the expressions of a request. It returns none if the request has none.
func TextsOf(in wire.Request) *Texts {
	t := new(Texts)
	_ = json.Unmarshal(wire.AppendJSON(nil, in), t) // cannot fail: package wire writes these members
	return t
}

// values returns the values of the placeholders.
func (t *Texts) values() attr.Item {
	it, _ := attr.ParseItem(t.ExpressionAttributeValues) // fails if there are none
	return it
}

// Message returns the service's message about the request with the names and values that the user typed in place of
// placeholders. If an expression has a syntax error, Message appends the expression with a caret below the error.
func (t *Texts) Message(message string) string {
	values := t.values()
	fill := func(s string) string { return literal.Write(s, t.ExpressionAttributeNames, values) }
	message = fill(message)
	if src, pos, ok := t.Fault(); ok {
		message += "\n" + terminal.Caret(fill(src), len(fill(src[:pos])))
	}
	return message
}

// Fault returns the first expression that has a syntax error, and the offset of the error in bytes. If all
// expressions can be parsed, ok is false. It does not look at key conditions, which nobody types.
func (t *Texts) Fault() (src string, pos int, ok bool) {
	env, err := expr.NewEnv(expr.Params{Names: t.ExpressionAttributeNames, Values: t.values()})
	if err != nil {
		return "", 0, false
	}
	condition := t.FilterExpression + t.ConditionExpression // a request has one of them
	if condition != "" {
		src = condition
		_, err = env.Condition(expr.FilterExpression, src)
	}
	if err == nil && t.UpdateExpression != "" {
		src = t.UpdateExpression
		_, err = env.Update(src)
	}
	if err == nil && t.ProjectionExpression != "" {
		src = t.ProjectionExpression
		_, err = env.Projection(src)
	}
	wrong, ok := errors.AsType[*expr.Error](err)
	if !ok || wrong.Offset > len(src) {
		return "", 0, false
	}
	return src, wrong.Offset, true
}
