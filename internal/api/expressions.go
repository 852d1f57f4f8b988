package api

import (
	"github.com/sortkey/sortkey/internal/legacy"
	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
)

// expressions parses the expressions of an input. names and values are the ExpressionAttributeNames and
// ExpressionAttributeValues to which the expressions refer.
type expressions struct {
	op     wire.Op
	names  map[string]string
	values attr.Item
	env    expr.Env
}

// open checks the names and values. Call it before you parse expressions, and call close afterwards. close returns an
// error if no expression has used one of the names or values.
func (e *expressions) open() error {
	return e.wrap(e.env.Reset(expr.Params{Names: e.names, Values: e.values}))
}

func (e *expressions) close() error { return e.wrap(e.env.Unused()) }

// condition parses a condition, filter or key condition expression; src may be nil.
func (e *expressions) condition(p expr.Param, src *string) (*expr.Condition, error) {
	if src == nil {
		return nil, nil
	}
	c, err := e.env.Condition(p, *src)
	return c, e.wrap(err)
}

// projection parses a projection expression or a legacy AttributesToGet list. Both may be nil.
func (e *expressions) projection(src *string, attributes []string) (*expr.Projection, error) {
	if attributes != nil {
		seen := make(map[string]bool, len(attributes)) // a map, because a client may send a million names
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

// writeCondition parses the condition of a write, given as an expression or as the legacy Expected.
func (e *expressions) writeCondition(
	src *string, conds map[string]wire.ExpectedAttributeValue, operator *string,
) (*expr.Condition, error) {
	if src != nil {
		return e.condition(expr.ConditionExpression, src)
	}
	return e.expected(conds, operator)
}

// wrap turns the error of an expression into one with the text that the operation uses.
func (e *expressions) wrap(err error) error {
	if err == nil {
		return nil
	}
	return e.op.Invalid(err.Error())
}
