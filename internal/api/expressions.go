package api

import (
	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
)

// expressions are the names and values of an input that its expressions refer
// to.
type expressions struct {
	op     wire.Op
	names  map[string]string
	values attr.Item
	env    expr.Env
}

// open checks the placeholders. After the expressions have been parsed, close
// refuses placeholders that none of them used.
func (e *expressions) open() error { return e.wrap(e.env.Reset(e.names, e.values)) }

func (e *expressions) close() error { return e.wrap(e.env.Unused()) }

// condition parses an optional condition, filter or key condition expression.
func (e *expressions) condition(p expr.Param, src *string) (*expr.Condition, error) {
	if src == nil {
		return nil, nil
	}
	c, err := e.env.Condition(p, *src)
	return c, e.wrap(err)
}

// projection parses an optional projection, from an expression or from the
// legacy list.
func (e *expressions) projection(src *string, attributes []string) (*expr.Projection, error) {
	if attributes != nil {
		seen := make(map[string]bool, len(attributes)) // a client may send a million of them
		for _, name := range attributes {
			if seen[name] {
				return nil, e.op.Invalid(
					"One or more parameter values were invalid: Duplicate value in attribute name: " + name,
				)
			}
			seen[name] = true
		}
		return expr.Attributes(attributes), nil
	}
	if src == nil {
		return nil, nil
	}
	p, err := e.env.Projection(*src)
	return p, e.wrap(err)
}

// legacy parses the conditions of KeyConditions, QueryFilter or ScanFilter.
func (e *expressions) legacy(p expr.Param, conds map[string]wire.Condition, operator *string) (*expr.Condition, error) {
	if conds == nil {
		return nil, nil
	}
	m := make(map[string]expr.LegacyCondition, len(conds))
	for name, c := range conds {
		m[name] = expr.LegacyCondition{Op: value(c.ComparisonOperator), Values: c.AttributeValueList}
	}
	c, err := expr.FromLegacy(p, m, value(operator) == "OR")
	return c, e.wrap(err)
}

// expected parses the conditions of Expected.
func (e *expressions) expected(
	conds map[string]wire.ExpectedAttributeValue, operator *string,
) (*expr.Condition, error) {
	if len(conds) == 0 {
		return nil, nil
	}
	m := make(map[string]expr.Expected, len(conds))
	for name, c := range conds {
		m[name] = expr.Expected{
			Op: value(c.ComparisonOperator), Values: c.AttributeValueList, Value: c.Value, Exists: c.Exists,
		}
	}
	c, err := expr.FromExpected(m, value(operator) == "OR")
	return c, e.wrap(err)
}

// writeCondition parses the condition of a write in either form.
func (e *expressions) writeCondition(
	src *string, conds map[string]wire.ExpectedAttributeValue, operator *string,
) (*expr.Condition, error) {
	if src != nil {
		return e.condition(expr.ConditionExpression, src)
	}
	return e.expected(conds, operator)
}

// wrap words the error of an expression as the operation does.
func (e *expressions) wrap(err error) error {
	if err == nil {
		return nil
	}
	return e.op.Invalid(err.Error())
}
