package ask

import (
	"reflect"
	"regexp"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// Of returns what a person types for a Query or a Scan of table t. It reports false for a request
// that people cannot type so.
func Of(in wire.Request, t *keyschema.Table) (*Query, bool) {
	read := func(in wire.Request) (*Query, bool) {
		switch in := in.(type) {
		case *wire.QueryInput:
			return queryOf(in, t)
		case *wire.ScanInput:
			return scanOf(in)
		}
		return nil, false
	}
	q, ok := read(in)
	if !ok {
		return nil, false
	}
	var again wire.Request
	var err error
	if _, ok := in.(*wire.ScanInput); ok {
		again, err = q.ScanInput(t)
	} else {
		again, err = q.Input(t)
	}
	if err != nil {
		return nil, false
	}
	same, ok := read(again)
	return q, ok && reflect.DeepEqual(same, q)
}

// queryOf returns what a person types for a request, if it has nothing else.
func queryOf(in *wire.QueryInput, t *keyschema.Table) (*Query, bool) {
	rest := *in
	rest.TableName, rest.IndexName, rest.Limit, rest.ConsistentRead, rest.ScanIndexForward = nil, nil, nil, nil, nil
	rest.KeyConditionExpression, rest.FilterExpression, rest.ProjectionExpression = nil, nil, nil
	rest.ExpressionAttributeNames, rest.ExpressionAttributeValues, rest.ReturnConsumedCapacity = nil, nil, nil
	q := &Query{Backwards: in.ScanIndexForward != nil && !*in.ScanIndexForward}
	q.options(in.IndexName, in.Limit, in.ConsistentRead)
	schema := t.Schema(q.Index)
	if string(rest.AppendJSON(nil)) != "{}" || len(in.Faults) > 0 || in.KeyConditionExpression == nil || schema == nil {
		return nil, false
	}

	env, err := expr.NewEnv(in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	if err != nil || !q.texts(env, in.FilterExpression, in.ProjectionExpression,
		in.ExpressionAttributeNames, in.ExpressionAttributeValues) {
		return nil, false
	}
	condition, err := env.Condition(expr.KeyConditionExpression, *in.KeyConditionExpression)
	if err != nil {
		return nil, false
	}
	slice, err := keycond.Compile(schema, condition)
	if err != nil {
		return nil, false
	}
	for i, c := range slice.Clauses {
		if i < len(schema.Hash) {
			q.Partition = append(q.Partition, Operand(c.Values[0]))
		} else {
			q.Sort = append(q.Sort, conditionText(c))
		}
	}
	return q, true
}

// scanOf is queryOf for a scan.
func scanOf(in *wire.ScanInput) (*Query, bool) {
	rest := *in
	rest.TableName, rest.IndexName, rest.Limit, rest.ConsistentRead = nil, nil, nil, nil
	rest.FilterExpression, rest.ProjectionExpression = nil, nil
	rest.ExpressionAttributeNames, rest.ExpressionAttributeValues, rest.ReturnConsumedCapacity = nil, nil, nil
	if string(rest.AppendJSON(nil)) != "{}" || len(in.Faults) > 0 {
		return nil, false
	}
	q := new(Query)
	q.options(in.IndexName, in.Limit, in.ConsistentRead)
	env, err := expr.NewEnv(in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	return q, err == nil && q.texts(env, in.FilterExpression, in.ProjectionExpression,
		in.ExpressionAttributeNames, in.ExpressionAttributeValues)
}

func (q *Query) options(index *string, limit *int64, consistent *bool) {
	if index != nil {
		q.Index = *index
	}
	if limit != nil {
		q.Limit = int32(*limit)
	}
	q.Consistent = consistent != nil && *consistent
}

// texts sets the filter and the projection from the expressions of a request, and reports
// whether these can be parsed.
func (q *Query) texts(
	env *expr.Env, filter, projection *string, names map[string]string, values attr.Item,
) bool {
	if filter != nil {
		if _, err := env.Condition(expr.FilterExpression, *filter); err != nil {
			return false
		}
		q.Filter = literal.Write(*filter, names, values)
	}
	if projection != nil {
		if _, err := env.Projection(*projection); err != nil {
			return false
		}
		q.Project = []string{literal.Write(*projection, names, values)}
	}
	return true
}

// plainOperand matches text that no condition takes for anything but a value.
var plainOperand = regexp.MustCompile(`^[\pL\pN#/._:@+|-]+$`)

// Operand returns a value of a key as a person types it.
func Operand(v attr.Value) string {
	if v.Kind() == attr.String && plainOperand.Match(v.Raw()) {
		return string(v.Raw())
	}
	return text.Literal(v) // numbers are as they are, binary values 0x00ff
}

// conditionText returns a condition on a sort key attribute as a person types it.
func conditionText(c keycond.Clause) string {
	value := Operand(c.Values[0])
	switch c.Op {
	case ast.Equal:
		return value
	case ast.OpBetween:
		return "between " + value + " and " + Operand(c.Values[1])
	case ast.OpBeginsWith:
		return value + "*"
	}
	return string(c.Op) + " " + value
}
