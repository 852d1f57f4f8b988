package expr

import (
	"maps"
	"slices"

	"github.com/sortkey/sortkey/expr/ast"

	"github.com/sortkey/sortkey/attr"
)

// Operators of legacy conditions. Source: API_Condition.html.
const (
	legacyEQ          = "EQ"
	legacyNE          = "NE"
	legacyLE          = "LE"
	legacyLT          = "LT"
	legacyGE          = "GE"
	legacyGT          = "GT"
	legacyNotNull     = "NOT_NULL"
	legacyNull        = "NULL"
	legacyContains    = "CONTAINS"
	legacyNotContains = "NOT_CONTAINS"
	legacyBeginsWith  = "BEGINS_WITH"
	legacyIn          = "IN"
	legacyBetween     = "BETWEEN"
)

// A LegacyCondition is the condition on one attribute in KeyConditions,
// QueryFilter or ScanFilter.
type LegacyCondition struct {
	// Op is the ComparisonOperator, as "EQ".
	Op string
	// Values is the AttributeValueList.
	Values []attr.Value
}

// FromLegacy returns the condition equivalent to KeyConditions, QueryFilter or
// ScanFilter; p says which of them. The keys of conds are attribute names,
// which it processes in byte order. or joins them by OR instead of AND. Without
// any, it returns nil, which is true. The error is an [*Error].
//
// Source: API_Condition.html; messages as captured in dynalite (test/query.js,
// test/scan.js).
func FromLegacy(p Param, conds map[string]LegacyCondition, or bool) (*Condition, error) {
	var root ast.Node
	for _, attribute := range slices.Sorted(maps.Keys(conds)) {
		c := conds[attribute]
		if err := checkLegacy(p, c.Op, c.Values); err != nil {
			return nil, err
		}
		root = join(root, legacyNode(attribute, c.Op, c.Values), or)
	}
	if root == nil {
		return nil, nil
	}
	return &Condition{Root: root, Param: p}, nil
}

// An Expected is the condition on one attribute in the Expected parameter of a
// write. It has either an operator with values, or a value that the attribute
// must have, or requires that the attribute does not exist.
type Expected struct {
	// Op is the ComparisonOperator, or empty.
	Op string
	// Values is the AttributeValueList, nil when the request has none.
	Values []attr.Value
	// Value is the single Value, zero when the request has none.
	Value attr.Value
	// Exists is nil when the request does not set it.
	Exists *bool
}

// FromExpected returns the condition equivalent to the Expected parameter. The
// keys are attribute names, which it processes in byte order. or joins them by
// OR instead of AND. Without any, it returns nil, which is true. The error is
// an [*Error].
//
// Source: API_ExpectedAttributeValue.html; messages as captured in dynalite
// (test/putItem.js).
func FromExpected(conds map[string]Expected, or bool) (*Condition, error) {
	var root ast.Node
	for _, attribute := range slices.Sorted(maps.Keys(conds)) {
		n, err := conds[attribute].node(attribute)
		if err != nil {
			return nil, err
		}
		root = join(root, n, or)
	}
	if root == nil {
		return nil, nil
	}
	return &Condition{Root: root, Param: ExpectedParam}, nil
}

func (e Expected) node(attribute string) (ast.Node, error) {
	const invalid = "One or more parameter values were invalid: "
	const p = ExpectedParam
	single := !e.Value.IsZero()
	if e.Values != nil && single {
		return nil, refuse(
			p, invalid+"Value and AttributeValueList cannot be used together for Attribute: %s", attribute,
		)
	}
	if e.Op != "" {
		if e.Exists != nil {
			return nil, refuse(
				p, invalid+"Exists and ComparisonOperator cannot be used together for Attribute: %s", attribute,
			)
		}
		if e.Op != legacyNull && e.Op != legacyNotNull && e.Values == nil && !single {
			return nil, refuse(
				p, invalid+"Value or AttributeValueList must be used with ComparisonOperator: %s for Attribute: %s",
				e.Op, attribute,
			)
		}
		values := e.Values
		if single {
			values = []attr.Value{e.Value}
		}
		if err := checkLegacy(p, e.Op, values); err != nil {
			return nil, err
		}
		return legacyNode(attribute, e.Op, values), nil
	}
	if e.Values != nil {
		return nil, refuse(
			p, invalid+"AttributeValueList can only be used with a ComparisonOperator for Attribute: %s", attribute,
		)
	}
	exists := e.Exists == nil || *e.Exists
	switch {
	case exists && !single && e.Exists == nil:
		return nil, refuse(p, invalid+"Value must be provided when Exists is null for Attribute: %s", attribute)
	case exists && !single:
		return nil, refuse(p, invalid+"Value must be provided when Exists is true for Attribute: %s", attribute)
	case !exists && single:
		return nil, refuse(p, invalid+"Value cannot be used when Exists is false for Attribute: %s", attribute)
	case exists:
		return legacyNode(attribute, legacyEQ, []attr.Value{e.Value}), nil
	}
	return legacyNode(attribute, legacyNull, nil), nil
}

// join adds n to root.
func join(root, n ast.Node, or bool) ast.Node {
	switch {
	case root == nil:
		return n
	case or:
		return &ast.Or{L: root, R: n}
	}
	return &ast.And{L: root, R: n}
}

// legacyArguments returns how many values an operator takes.
func legacyArguments(op string) (least, most int, ok bool) {
	switch op {
	case legacyNull, legacyNotNull:
		return 0, 0, true
	case legacyEQ, legacyNE, legacyLE, legacyLT, legacyGE, legacyGT, legacyContains, legacyNotContains, legacyBeginsWith:
		return 1, 1, true
	case legacyBetween:
		return 2, 2, true
	case legacyIn:
		return 1, 1 << 30, true
	}
	return 0, 0, false
}

// legacyTakes reports whether an operator takes values of a kind.
//
// According to the documentation, CONTAINS takes only S, N and B. In dynalite's
// test/query.js, the service refuses it with sets and documents but not with
// BOOL and NULL, so these are accepted here.
func legacyTakes(op string, k attr.Kind) bool {
	switch op {
	case legacyLE, legacyLT, legacyGE, legacyGT, legacyIn, legacyBetween:
		return k.IsScalar()
	case legacyBeginsWith:
		return k == attr.String || k == attr.Binary
	case legacyContains, legacyNotContains:
		return k.IsScalar() || k == attr.Bool || k == attr.Null
	}
	return true
}

// checkLegacy checks the values of an operator.
func checkLegacy(p Param, op string, values []attr.Value) error {
	const invalid = "One or more parameter values were invalid: "
	least, most, ok := legacyArguments(op)
	if !ok {
		return refuse(p, invalid+"Unsupported comparison operator: %s", op)
	}
	if len(values) < least || len(values) > most {
		return refuse(p, invalid+"Invalid number of argument(s) for the %s ComparisonOperator", op)
	}
	for _, v := range values {
		if v.Kind() != values[0].Kind() {
			return refuse(p, invalid+"AttributeValues inside AttributeValueList must be of same type")
		}
	}
	for _, v := range values {
		if !legacyTakes(op, v.Kind()) {
			return refuse(p, invalid+"ComparisonOperator %s is not valid for %s AttributeValue type", op, v.Kind())
		}
	}
	if op == legacyBetween {
		if n, _ := attr.Compare(values[0], values[1]); n > 0 {
			return refuse(
				p, "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound",
			)
		}
	}
	return nil
}

// legacyNode returns the condition for an operator and values that have been
// checked.
func legacyNode(attribute, op string, values []attr.Value) ast.Node {
	path := &ast.PathOperand{Path: ast.Path{{Name: attribute}}}
	operands := make([]ast.Operand, len(values))
	for i, v := range values {
		operands[i] = &ast.ValueOperand{Value: v}
	}
	call := func(fn ast.Func) ast.Node { return &ast.Call{Func: fn, Args: append([]ast.Operand{path}, operands...)} }
	switch op {
	case legacyEQ:
		return &ast.Compare{Op: ast.Equal, L: path, R: operands[0]}
	case legacyNE:
		return &ast.Compare{Op: ast.NotEqual, L: path, R: operands[0]}
	case legacyLE:
		return &ast.Compare{Op: ast.LessOrEqual, L: path, R: operands[0]}
	case legacyLT:
		return &ast.Compare{Op: ast.Less, L: path, R: operands[0]}
	case legacyGE:
		return &ast.Compare{Op: ast.GreaterOrEqual, L: path, R: operands[0]}
	case legacyGT:
		return &ast.Compare{Op: ast.Greater, L: path, R: operands[0]}
	case legacyNotNull:
		return call(ast.AttributeExists)
	case legacyNull:
		return call(ast.AttributeNotExists)
	case legacyContains:
		return call(ast.Contains)
	case legacyNotContains:
		// Unlike NE, NOT_CONTAINS is false for an attribute that does not exist
		// (alternator, test_expected.py).
		return &ast.And{
			L: &ast.Call{Func: ast.AttributeExists, Args: []ast.Operand{path}}, R: &ast.Not{X: call(ast.Contains)},
		}
	case legacyBeginsWith:
		return call(ast.BeginsWith)
	case legacyBetween:
		return &ast.Between{X: path, Lo: operands[0], Hi: operands[1]}
	}
	return &ast.In{X: path, List: operands}
}
