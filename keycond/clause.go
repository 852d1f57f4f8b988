package keycond

import (
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
)

// A Clause is a condition on one key attribute. [Of] makes a [Slice] of clauses that a program has built, and
// [Clauses] returns the clauses of an expression.
type Clause struct {
	Attribute string // its name
	// Op is the operator as expressions spell it: =, <, <=, >, >=, BETWEEN or
	// begins_with.
	Op string
	// Values has one operand, or two for BETWEEN.
	Values []attr.Value
}

// check refuses a clause that no expression can contain.
func (c *Clause) check() error {
	operands := 1
	switch c.Op {
	case ast.Equal, ast.Less, ast.LessOrEqual, ast.Greater, ast.GreaterOrEqual, ast.OpBeginsWith:
	case ast.OpBetween:
		operands = 2
	default:
		return refuseOperator(c.Op)
	}
	if len(c.Values) != operands {
		return refuse("the condition on %s has %s, and %s takes %d",
			text.Name(c.Attribute), text.Count(len(c.Values), "operand"), c.Op, operands)
	}
	return nil
}

// String returns the clause as an expression with the values written out, such as begins_with(SK, "b"), for messages.
func (c Clause) String() string {
	if c.check() != nil {
		return text.Name(c.Attribute) + " " + c.Op
	}
	name, v := text.Name(c.Attribute), text.Literal(c.Values[0])
	switch c.Op {
	case ast.OpBetween:
		return name + " BETWEEN " + v + " AND " + text.Literal(c.Values[1])
	case ast.OpBeginsWith:
		return "begins_with(" + name + ", " + v + ")"
	}
	return name + " " + c.Op + " " + v
}

func refuseOperator(op string) error {
	return refuse("Invalid operator used in KeyConditionExpression: %s", op)
}
