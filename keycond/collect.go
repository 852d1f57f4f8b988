package keycond

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	impl "github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
)

// Messages about expressions that are not key conditions. Most were captured by dynalite (test/query.js), msgTwice
// later by conformance (queryKeyConditionOperands.test.ts).
const (
	msgNested   = "KeyConditionExpressions cannot contain nested operations"
	msgDeep     = "KeyConditionExpressions cannot have conditions on nested attributes"
	msgTwice    = "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key"
	msgNoKey    = "Invalid condition in KeyConditionExpression: No key attribute specified"
	msgTwoNames = "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"
	// Messages about conditions that are not one slice of a schema.
	msgMissed       = "Query condition missed key schema element: %s"
	msgUnsupported  = "Query key condition not supported"
	msgStartOutside = "The provided starting key is outside query boundaries based on provided conditions"
	// msgEquality is for keys of several attributes. Source: dynoxide, expressions/key_condition.rs, captured in
	// October 2026.
	msgEquality = "HASH key attributes %s must have equality conditions specified in the query"
)

// collect appends to dst the clauses that c joins by AND, and appends the values of the clauses to values.
func collect(dst []Clause, values *[]attr.Value, c *expr.Condition) ([]Clause, error) {
	return appendClauses(dst, values, impl.Node(c))
}

func appendClauses(dst []Clause, values *[]attr.Value, n ast.Node) ([]Clause, error) {
	var c Clause
	var err error
	switch n := n.(type) {
	case nil:
		return dst, nil
	case *ast.And:
		if dst, err = appendClauses(dst, values, n.L); err != nil {
			return nil, err
		}
		return appendClauses(dst, values, n.R)
	case *ast.Or:
		return nil, refuseOperator("OR")
	case *ast.Not:
		return nil, refuseOperator("NOT")
	case *ast.In:
		return nil, refuseOperator("IN")
	case *ast.Compare:
		c, err = compareClause(values, n)
	case *ast.Between:
		c, err = clause(values, ast.OpBetween, "BETWEEN", n.X, n.Lo, n.Hi)
	case *ast.Call:
		if n.Func != ast.BeginsWith {
			return nil, refuseOperator(string(n.Func))
		}
		c, err = clause(values, ast.OpBeginsWith, string(n.Func), n.Args...)
	}
	if err != nil {
		return nil, err
	}

	if err := c.check(); err != nil { // a clause of a tree that was not parsed may be invalid
		return nil, err
	}
	if slices.ContainsFunc(dst, func(o Clause) bool { return o.Attribute == c.Attribute }) {
		return nil, refuse(msgTwice)
	}
	return append(dst, c), nil
}

// compareClause makes a clause of a comparison, whose operands may be in either order.
func compareClause(values *[]attr.Value, n *ast.Compare) (Clause, error) {
	if n.Op == ast.NotEqual || ast.Mirror(n.Op) == "" { // Mirror returns "" only in a tree that was not parsed
		return Clause{}, refuseOperator(n.Op)
	}
	if _, ok := n.L.(*ast.ValueOperand); ok {
		if _, ok := n.R.(*ast.PathOperand); ok {
			return clause(values, ast.Mirror(n.Op), "", n.R, n.L)
		}
	}
	return clause(values, n.Op, "", n.L, n.R)
}

// clause makes a clause of an operator and its operands. If name is not empty, messages call the operator by name,
// and the first operand must be the key attribute. If name is empty, the operands may be in either order.
func clause(values *[]attr.Value, op ast.Op, name string, operands ...ast.Operand) (Clause, error) {
	c := Clause{Op: op}
	var key ast.Path
	at, from := -1, len(*values)
	for i, o := range operands {
		switch o := o.(type) {
		case *ast.ValueOperand:
			*values = append(*values, o.Value)
		case *ast.PathOperand:
			if at >= 0 {
				return c, refuse(msgTwoNames)
			}
			if len(o.Path) != 1 {
				return c, refuse(msgDeep)
			}
			key, at = o.Path, i
		default:
			return c, refuse(msgNested)
		}
	}

	if at < 0 {
		return c, refuse(msgNoKey)
	}
	if at > 0 {
		return c, refuse(
			"Invalid condition in KeyConditionExpression: %s operator must have the key attribute as its first operand",
			name,
		)
	}

	c.Attribute = key[0].Name
	c.Values = (*values)[from:len(*values):len(*values)]
	return c, nil
}
