package api

import (
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
)

// The sizes that UpdateItem adds for the parts of an update expression when it checks the size of an item. No
// document mentions them; the authors of dynamodb-conformance captured them byte by byte
// (tests/tier3/limits/itemSizeBySurface.test.ts, eu-west-2, 2026-08-19 and 2026-10-09).
const (
	chargeUpdate      = 3
	chargeWrite       = 19 // SET and ADD
	chargeTake        = 1  // REMOVE and DELETE
	chargeTargetStep  = 4  // for each step of a target after the first
	chargeOperand     = 1  // for a path that is read
	chargeOperandStep = 14
	chargePlus        = 34
	chargeMinus       = 37
	chargeListAppend  = 37
	chargeIfNotExists = 39
)

// Charge returns the size in bytes that UpdateItem assigns to an update expression. UpdateItem refuses the update if
// this size, or the size of the new item, exceeds the item size limit. The charge depends only on the request, so
// UpdateItem checks it before the condition. The legacy AttributeUpdates have no charge: only the size of the new
// item counts. Most regions do not charge in transactions, and ten regions never charge.
//
// This rule replaces an earlier one: the size of the new item without its key attributes, plus 3, plus 19 for every
// SET and 2 for every REMOVE. The earlier rule was captured with items that had no attributes except the key and
// those that the update wrote.
func Charge(u *expr.Update) int {
	n := chargeUpdate
	for _, a := range expr.Actions(u) {
		n += chargeTarget(a.Path.Path)
		switch a.Clause {
		case ast.SetClause, ast.AddClause:
			n += chargeWrite + chargeValue(a.Value)
		case ast.RemoveClause, ast.DeleteClause:
			n += chargeTake
		}
	}
	return n
}

func chargeTarget(p ast.Path) int {
	n := chargeTargetStep * (len(p) - 1)
	for _, s := range p {
		n += stepSize(s)
	}
	return n
}

func chargeValue(o ast.Operand) int {
	switch o := o.(type) {
	case *ast.ValueOperand:
		return o.Value.Size()
	case *ast.PathOperand:
		n := chargeOperand + chargeOperandStep*len(o.Path)
		for _, s := range o.Path {
			n += stepSize(s)
		}
		return n
	case *ast.Arithmetic:
		n := chargeValue(o.L) + chargeValue(o.R)
		if o.Op == ast.Minus {
			return n + chargeMinus
		}
		return n + chargePlus
	case *ast.Call:
		n := chargeListAppend
		if o.Func == ast.IfNotExists {
			n = chargeIfNotExists
		}
		for _, a := range o.Args {
			n += chargeValue(a)
		}
		return n
	}
	return 0
}

// stepSize returns the length of an attribute name in bytes, or of a list index in digits.
func stepSize(s ast.Step) int {
	if s.Name != "" {
		return len(s.Name)
	}
	n := 1
	for i := s.Index; i >= 10; i /= 10 {
		n++
	}
	return n
}
