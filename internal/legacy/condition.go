// Package legacy converts the legacy parameters KeyConditions, QueryFilter, ScanFilter, Expected and AttributeUpdates
// to conditions and updates. Expressions have replaced these parameters. For example, the first line becomes the
// second:
//
//	{"status": {"ComparisonOperator": "EQ", …}, "closed": {"ComparisonOperator": "NULL"}}
//	attribute_not_exists(closed) AND status = {S:open}
//
// Errors have the service's texts.
package legacy

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/wire"
)

// Operators of legacy conditions that have rules of their own.
const (
	opNotNull     = "NOT_NULL"
	opNull        = "NULL"
	opContains    = "CONTAINS"
	opNotContains = "NOT_CONTAINS"
	opBeginsWith  = "BEGINS_WITH"
	opIn          = "IN"
	opBetween     = "BETWEEN"
)

// All other legacy operators compare the attribute with their only value. Those in functions call a function with the
// attribute and their values. Source: API_Condition.html.
var (
	comparisons = map[string]ast.Op{
		"EQ": ast.Equal, "NE": ast.NotEqual,
		"LE": ast.LessOrEqual, "LT": ast.Less, "GE": ast.GreaterOrEqual, "GT": ast.Greater,
	}
	functions = map[string]ast.Func{
		opNotNull: ast.AttributeExists, opNull: ast.AttributeNotExists,
		opContains: ast.Contains, opNotContains: ast.Contains, opBeginsWith: ast.BeginsWith,
	}
)

// The request parameters that this package reads.
const (
	KeyConditions    expr.Param = "KeyConditions"
	QueryFilter      expr.Param = "QueryFilter"
	ScanFilter       expr.Param = "ScanFilter"
	Expected         expr.Param = "Expected"
	AttributeUpdates expr.Param = "AttributeUpdates"
)

// Condition converts KeyConditions, QueryFilter or ScanFilter to a condition; p is the parameter's name. The keys of
// conds are attribute names. Condition joins the conditions by AND in the byte order of these names, or by OR if or
// is set. If conds is empty, it returns nil, which always holds. The error is an [*expr.Error].
//
// Source: API_Condition.html; messages as captured in dynalite (test/query.js, test/scan.js).
func Condition(p expr.Param, conds map[string]wire.Condition, or bool) (*expr.Condition, error) {
	return joined(conds, or, func(attribute string, c wire.Condition) (ast.Node, error) {
		op := valueOf(c.ComparisonOperator)
		if err := check(p, op, c.AttributeValueList); err != nil {
			return nil, err
		}
		return node(attribute, op, c.AttributeValueList), nil
	})
}

// ExpectedCondition is [Condition] for the parameter Expected of a write.
//
// Source: API_ExpectedAttributeValue.html; messages as captured in dynalite (test/putItem.js).
func ExpectedCondition(conds map[string]wire.ExpectedAttributeValue, or bool) (*expr.Condition, error) {
	return joined(conds, or, expectedNode)
}

// joined converts each element of conds with the function one, and joins the results by AND, or by OR if or is set.
func joined[T any](
	conds map[string]T, or bool, one func(name string, cond T) (ast.Node, error),
) (*expr.Condition, error) {
	if len(conds) == 0 { // most requests have none; the code below allocates
		return nil, nil
	}
	var root ast.Node
	for _, attribute := range slices.Sorted(maps.Keys(conds)) {
		n, err := one(attribute, conds[attribute])
		if err != nil {
			return nil, err
		}
		switch {
		case root == nil:
			root = n
		case or:
			root = &ast.Or{L: root, R: n}
		default:
			root = &ast.And{L: root, R: n}
		}
	}
	return expr.NewCondition(root), nil
}

// invalid is the beginning of most messages.
const invalid = "One or more parameter values were invalid: "

// refuse returns the error for parameter p.
func refuse(p expr.Param, format string, args ...any) error {
	return &expr.Error{Param: p, Message: fmt.Sprintf(format, args...)}
}

// valueOf returns what p points to, or the zero value.
func valueOf[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// expectedNode converts an element of Expected. The element has an operator with values, a Value that the attribute
// must equal, or Exists false.
func expectedNode(attribute string, e wire.ExpectedAttributeValue) (ast.Node, error) {
	op, list := valueOf(e.ComparisonOperator), e.AttributeValueList
	single, exists := !e.Value.IsZero(), e.Exists == nil || *e.Exists
	bad := func(text string, args ...any) (ast.Node, error) {
		return nil, refuse(Expected, invalid+text+" for Attribute: %s", append(args, attribute)...)
	}
	switch {
	case list != nil && single:
		return bad("Value and AttributeValueList cannot be used together")
	case op != "" && e.Exists != nil:
		return bad("Exists and ComparisonOperator cannot be used together")
	case op != "" && op != opNull && op != opNotNull && list == nil && !single:
		return bad("Value or AttributeValueList must be used with ComparisonOperator: %s", op)
	case op != "":
		if single {
			list = []attr.Value{e.Value}
		}
		if err := check(Expected, op, list); err != nil {
			return nil, err
		}
		return node(attribute, op, list), nil
	case list != nil:
		return bad("AttributeValueList can only be used with a ComparisonOperator")
	case !single && e.Exists == nil:
		return bad("Value must be provided when Exists is null")
	case !single && exists:
		return bad("Value must be provided when Exists is true")
	case single && !exists:
		return bad("Value cannot be used when Exists is false")
	case !exists:
		return node(attribute, opNull, nil), nil
	}
	return node(attribute, "EQ", []attr.Value{e.Value}), nil
}

// takes reports whether an operator accepts values of a kind.
//
// According to the documentation, CONTAINS accepts only S, N and B. But in dynalite's test/query.js, the service
// rejects only sets and documents. So takes accepts BOOL and NULL too.
func takes(op string, k attr.Kind) bool {
	switch op {
	case "EQ", "NE":
		return true
	case opBeginsWith:
		return k == attr.String || k == attr.Binary
	case opContains, opNotContains:
		return k.IsScalar() || k == attr.Bool || k == attr.Null
	}
	return k.IsScalar()
}

// check returns an error for an unknown operator, or for values that the operator does not accept.
func check(p expr.Param, op string, values []attr.Value) error {
	least, most := 1, 1
	switch op {
	case opNull, opNotNull:
		least, most = 0, 0
	case opBetween:
		least, most = 2, 2
	case opIn:
		most = math.MaxInt
	default:
		if comparisons[op] == "" && functions[op] == "" {
			return refuse(p, invalid+"Unsupported comparison operator: %s", op)
		}
	}
	if len(values) < least || len(values) > most {
		return refuse(p, invalid+"Invalid number of argument(s) for the %s ComparisonOperator", op)
	}
	for _, v := range values {
		if v.Kind() != values[0].Kind() {
			return refuse(p, invalid+"AttributeValues inside AttributeValueList must be of same type")
		}
	}
	if len(values) > 0 && !takes(op, values[0].Kind()) {
		return refuse(
			p, invalid+"ComparisonOperator %s is not valid for %s AttributeValue type", op, values[0].Kind(),
		)
	}
	if op == opBetween {
		if n, _ := attr.Compare(values[0], values[1]); n > 0 {
			return refuse(
				p, "The BETWEEN condition was provided a range where the lower bound is greater than the upper bound",
			)
		}
	}
	return nil
}

// node returns the condition for an operator and its values, which check has accepted.
func node(attribute, op string, values []attr.Value) ast.Node {
	path := &ast.PathOperand{Path: ast.Path{{Name: attribute}}}
	operands := make([]ast.Operand, len(values))
	for i, v := range values {
		operands[i] = &ast.ValueOperand{Value: v}
	}
	switch op {
	case opIn:
		return &ast.In{X: path, List: operands}
	case opBetween:
		return &ast.Between{X: path, Lo: operands[0], Hi: operands[1]}
	}
	if compare := comparisons[op]; compare != "" {
		return &ast.Compare{Op: compare, L: path, R: operands[0]}
	}
	call := &ast.Call{Func: functions[op], Args: append([]ast.Operand{path}, operands...)}
	if op == opNotContains {
		// Unlike NE, NOT_CONTAINS is false for an attribute that does not exist
		// (alternator, test_expected.py).
		return &ast.And{L: node(attribute, opNotNull, nil), R: &ast.Not{X: call}}
	}
	return call
}
