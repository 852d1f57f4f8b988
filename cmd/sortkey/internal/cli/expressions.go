package cli

import (
	"errors"

	"github.com/aws/smithy-go"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/cli/app"
	"github.com/sortkey/sortkey/internal/advice"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/literal"
	"github.com/sortkey/sortkey/internal/terminal"
	"github.com/sortkey/sortkey/internal/wire"
)

// texts are the expressions of a request that the user wrote, nil where there is none, and
// what their placeholders stand for.
type texts struct {
	names                         map[string]string
	values                        attr.Item
	condition, update, projection *string
}

// textsOf returns the expressions of a request.
func textsOf(in wire.Input) *texts {
	switch in := in.(type) {
	case *wire.QueryInput:
		return &texts{in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.FilterExpression, nil,
			in.ProjectionExpression}
	case *wire.ScanInput:
		return &texts{in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.FilterExpression, nil,
			in.ProjectionExpression}
	case *wire.GetItemInput:
		return &texts{in.ExpressionAttributeNames, nil, nil, nil, in.ProjectionExpression}
	case *wire.PutItemInput:
		return &texts{in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.ConditionExpression, nil, nil}
	case *wire.UpdateItemInput:
		return &texts{in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.ConditionExpression,
			in.UpdateExpression, nil}
	case *wire.DeleteItemInput:
		return &texts{in.ExpressionAttributeNames, in.ExpressionAttributeValues, in.ConditionExpression, nil, nil}
	}
	return &texts{}
}

// filledIn returns the service's error about a request with placeholders replaced
// by the names and values that the user typed.
func filledIn(err error, t *texts) error {
	api, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return err
	}
	fill := func(s string) string { return literal.Write(s, t.names, t.values) }
	h := app.ExplainAPI(err, &smithy.GenericAPIError{Code: api.ErrorCode(), Message: fill(api.ErrorMessage())})
	if src, pos, ok := t.fault(); ok {
		h.Msg += "\n" + terminal.Caret(fill(src), len(fill(src[:pos])))
	}
	return &advice.Error{Msg: h.Msg, Advice: h.Advice, Err: err}
}

// fault returns the expression that cannot be parsed, and where.
func (t *texts) fault() (src string, pos int, ok bool) {
	env, err := expr.NewEnv(t.names, t.values)
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
	if !ok || wrong.Pos > len(src) {
		return "", 0, false
	}
	return src, wrong.Pos, true
}
