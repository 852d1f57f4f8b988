package api

import (
	"slices"

	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
)

// request is the part of an input that expressions come in.
type request struct {
	op     wire.Op
	names  map[string]string
	values attr.Item
	env    expr.Env
}

// open checks the placeholders. Expressions are read afterwards, then close
// looks for placeholders that none of them used.
func (r *request) open() error { return r.wrap(r.env.Reset(r.names, r.values)) }

func (r *request) close() error { return r.wrap(r.env.Unused()) }

// condition reads an optional condition, filter or key condition expression.
func (r *request) condition(p expr.Param, src *string) (*expr.Condition, error) {
	if src == nil {
		return nil, nil
	}
	c, err := r.env.Condition(p, *src)
	return c, r.wrap(err)
}

// projection reads an optional projection, from an expression or from the
// legacy list.
func (r *request) projection(src *string, attributes []string) (*expr.Projection, error) {
	if attributes != nil {
		for i, name := range attributes {
			if slices.Contains(attributes[:i], name) {
				return nil, r.op.Invalid("One or more parameter values were invalid: Duplicate value in attribute name: " + name)
			}
		}
		return expr.Attributes(attributes), nil
	}
	if src == nil {
		return nil, nil
	}
	p, err := r.env.Projection(*src)
	return p, r.wrap(err)
}

// legacy reads the conditions of KeyConditions, QueryFilter or ScanFilter.
func (r *request) legacy(p expr.Param, conds map[string]wire.Condition, operator *string) (*expr.Condition, error) {
	if conds == nil {
		return nil, nil
	}
	m := make(map[string]expr.LegacyCondition, len(conds))
	for name, c := range conds {
		m[name] = expr.LegacyCondition{Op: value(c.ComparisonOperator), Values: c.AttributeValueList}
	}
	c, err := expr.FromLegacy(p, m, value(operator) == "OR")
	return c, r.wrap(err)
}

// expected reads the conditions of Expected.
func (r *request) expected(conds map[string]wire.ExpectedAttributeValue, operator *string) (*expr.Condition, error) {
	if len(conds) == 0 {
		return nil, nil
	}
	m := make(map[string]expr.Expected, len(conds))
	for name, c := range conds {
		m[name] = expr.Expected{Op: value(c.ComparisonOperator), Values: c.AttributeValueList, Value: c.Value, Exists: c.Exists}
	}
	c, err := expr.FromExpected(m, value(operator) == "OR")
	return c, r.wrap(err)
}

// writeCondition reads the condition of a write in either form.
func (r *request) writeCondition(src *string, conds map[string]wire.ExpectedAttributeValue, operator *string) (*expr.Condition, error) {
	if src != nil {
		return r.condition(expr.ConditionExpression, src)
	}
	return r.expected(conds, operator)
}

// wrap words an error of an expression as the operation does.
func (r *request) wrap(err error) error {
	if err == nil {
		return nil
	}
	return r.op.Invalid(err.Error())
}
