package api

import (
	"github.com/sortkey/sortkey/internal/legacy"
	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
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
func (e *expressions) open() error {
	return e.wrap(e.env.Reset(expr.Params{Names: e.names, Values: e.values}))
}

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

// legacyCondition parses the conditions of KeyConditions, QueryFilter or ScanFilter.
func (e *expressions) legacyCondition(
	p expr.Param, conds map[string]wire.Condition, operator *string,
) (*expr.Condition, error) {
	c, err := legacy.Condition(p, conds, value(operator) == "OR")
	return c, e.wrap(err)
}

// expected parses the conditions of Expected.
func (e *expressions) expected(
	conds map[string]wire.ExpectedAttributeValue, operator *string,
) (*expr.Condition, error) {
	c, err := legacy.ExpectedCondition(conds, value(operator) == "OR")
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
