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
	q, env, ok := options(in)
	if !ok || string(rest.AppendJSON(nil)) != "{}" || len(in.Faults) > 0 {
		return nil, false
	}
	schema := t.Schema(q.Index)
	if in.KeyConditionExpression == nil || schema == nil {
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
		if i < len(schema.Partition()) {
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
	q, _, ok := options(&wire.QueryInput{
		IndexName: in.IndexName, Limit: in.Limit, ConsistentRead: in.ConsistentRead,
		FilterExpression: in.FilterExpression, ProjectionExpression: in.ProjectionExpression,
		ExpressionAttributeNames:  in.ExpressionAttributeNames,
		ExpressionAttributeValues: in.ExpressionAttributeValues,
	})
	return q, ok && string(rest.AppendJSON(nil)) == "{}" && len(in.Faults) == 0
}

// options returns a query with all of a request but its key condition, and the environment of
// its expressions. It reports false if these cannot be parsed.
func options(in *wire.QueryInput) (*Query, *expr.Env, bool) {
	q := &Query{
		Backwards:  in.ScanIndexForward != nil && !*in.ScanIndexForward,
		Consistent: in.ConsistentRead != nil && *in.ConsistentRead,
	}
	if in.IndexName != nil {
		q.Index = *in.IndexName
	}
	if in.Limit != nil {
		q.Limit = int32(*in.Limit)
	}

	names, values := in.ExpressionAttributeNames, in.ExpressionAttributeValues
	env, err := expr.NewEnv(expr.Params{Names: names, Values: values})
	if err != nil {
		return nil, nil, false
	}
	if filter := in.FilterExpression; filter != nil {
		if _, err := env.Condition(expr.FilterExpression, *filter); err != nil {
			return nil, nil, false
		}
		q.Filter = literal.Write(*filter, names, values)
	}
	if projection := in.ProjectionExpression; projection != nil {
		if _, err := env.Projection(*projection); err != nil {
			return nil, nil, false
		}
		q.Project = []string{literal.Write(*projection, names, values)}
	}
	return q, env, true
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
