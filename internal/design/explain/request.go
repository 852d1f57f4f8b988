package explain

import (
	"reflect"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/legacy"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// A request is a Query, a Scan or a GetItem. It has the members of a Query, and those that only a Scan or a GetItem
// has. A copy of the struct shares lists and maps with the original. This is safe, because nothing changes them.
type request struct {
	op wire.Op
	wire.QueryInput
	Key                    attr.Item                 // of a GetItem
	ScanFilter             map[string]wire.Condition // of a Scan
	Segment, TotalSegments *int64                    // of a Scan
}

// requestOf converts the input of a Query, a Scan or a GetItem to a request. It returns false for other inputs.
func requestOf(in wire.Request) (r request, ok bool) {
	if in == nil {
		return request{}, false
	}

	r.op = in.Op()
	switch in := in.(type) {
	case *wire.QueryInput:
		r.QueryInput = *in
	case *wire.ScanInput, *wire.GetItemInput:
		r.each(in, func(own, member reflect.Value) { own.Set(member) })
	default:
		return request{}, false
	}
	return r, true
}

// input converts the request to the input of its operation.
func (r *request) input() wire.Request {
	var in wire.Request
	switch r.op {
	case wire.OpScan:
		in = new(wire.ScanInput)
	case wire.OpGetItem:
		in = new(wire.GetItemInput)
	default:
		query := r.QueryInput
		return &query
	}
	r.each(in, func(own, member reflect.Value) { member.Set(own) })
	return in
}

// each calls do for each member of the input. own is the field of r with the same name.
func (r *request) each(in wire.Request, do func(own, member reflect.Value)) {
	own, input := reflect.ValueOf(r).Elem(), reflect.ValueOf(in).Elem()
	for i := range input.NumField() {
		do(own.FieldByName(input.Type().Field(i).Name), input.Field(i))
	}
}

// faultOf returns the error that the service returns if an attribute value in the input is invalid. It returns nil if
// all are valid.
func faultOf(in wire.Request) error {
	r, ok := requestOf(in)
	if !ok {
		return nil
	}
	if e, ok := r.op.FaultError(r.Faults, "").(*wire.Error); ok {
		return refused(e)
	}
	return nil
}

// value returns *p, or the zero value if p is nil.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// expression returns the expression in parameter p of the request, or nil.
func (r *request) expression(p expr.Param) *string {
	switch p {
	case expr.KeyConditionExpression:
		return r.KeyConditionExpression
	case expr.FilterExpression:
		return r.FilterExpression
	case expr.ProjectionExpression:
		return r.ProjectionExpression
	}
	return nil
}

// whole returns the same request without a filter and a projection.
func (r request) whole() request {
	r.FilterExpression, r.ProjectionExpression, r.AttributesToGet, r.Select = nil, nil, nil, nil
	r.QueryFilter, r.ScanFilter, r.ConditionalOperator = nil, nil, nil
	return r.pruned()
}

// hasFilter reports whether r has a filter or a projection, which [request.whole] removes.
func (r *request) hasFilter() bool {
	return r.FilterExpression != nil || r.ProjectionExpression != nil || r.AttributesToGet != nil ||
		r.QueryFilter != nil || r.ScanFilter != nil || value(r.Select) == "COUNT"
}

// An expressionSet holds the parsed expressions of a request.
type expressionSet struct {
	key, filter *expr.Condition
	projection  *expr.Projection
}

// parse parses the expressions of a request, or its legacy parameters. If some are invalid, parse returns an error
// together with the expressions that are valid.
func (r *request) parse() (q expressionSet, err error) {
	env, err := expr.NewEnv(expr.Params{Names: r.ExpressionAttributeNames, Values: r.ExpressionAttributeValues})
	if err != nil {
		return q, err
	}
	keep := func(e error) {
		if err == nil {
			err = e
		}
	}
	condition := func(
		to **expr.Condition, p expr.Param, src *string, old expr.Param, conditions map[string]wire.Condition,
	) {
		var e error
		switch {
		case src != nil:
			*to, e = env.Condition(p, *src)
		case conditions != nil:
			isOr := value(r.ConditionalOperator) == "OR" && old != legacy.KeyConditions
			*to, e = legacy.Condition(old, conditions, isOr)
		}
		keep(e)
	}

	condition(&q.key, expr.KeyConditionExpression, r.KeyConditionExpression, legacy.KeyConditions, r.KeyConditions)
	if r.ScanFilter != nil {
		condition(&q.filter, expr.FilterExpression, r.FilterExpression, legacy.ScanFilter, r.ScanFilter)
	} else {
		condition(&q.filter, expr.FilterExpression, r.FilterExpression, legacy.QueryFilter, r.QueryFilter)
	}
	if r.ProjectionExpression != nil {
		p, e := env.Projection(*r.ProjectionExpression)
		q.projection = p
		keep(e)
	}
	if len(r.AttributesToGet) > 0 {
		q.projection = expr.Attributes(r.AttributesToGet)
	}
	return q, err
}

// Clauses returns those conditions of a request that have the form of a key condition: key has those in the key
// condition, filter those in the filter. Together, they may select more than one range.
func Clauses(in wire.Request) (key, filter []keycond.Clause) {
	r, ok := requestOf(in)
	if !ok {
		return nil, nil
	}
	q, _ := r.parse()
	clauses := func(c *expr.Condition) (all []keycond.Clause) {
		if c == nil {
			return nil
		}
		for _, n := range conjuncts(expr.Node(c)) {
			if a, ok := atomOf(n, anyName); ok {
				all = append(all, a.Clause)
			}
		}
		return all
	}
	return clauses(q.key), clauses(q.filter)
}
