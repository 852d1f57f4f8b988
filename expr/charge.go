package expr

import "github.com/sortkey/sortkey/internal/ast"

// What UpdateItem charges for the parts of an update expression when it checks
// the size of an item: figures without a documented basis, captured byte by
// byte by the authors of dynamodb-conformance
// (tests/tier3/limits/itemSizeBySurface.test.ts, eu-west-2, 2026-08-19 and
// 2026-10-09).
const (
	chargeUpdate      = 3
	chargeWrite       = 19 // SET and ADD
	chargeTake        = 1  // REMOVE and DELETE
	chargeTargetStep  = 4  // for every step of a target after the first
	chargeOperand     = 1  // a path that is read
	chargeOperandStep = 14
	chargePlus        = 34
	chargeMinus       = 37
	chargeListAppend  = 37
	chargeIfNotExists = 39
)

// Charge returns the size in bytes that UpdateItem ascribes to the expression:
// it refuses an update when this, or the size of the item after it, is more
// than an item may have. It depends on the request alone, and is checked before
// the condition. It is 0 for AttributeUpdates, which only the item after it
// counts for. Transactions do not charge it in most regions, and ten regions
// never do.
//
// The rule takes the place of one captured earlier on items that are all key
// and what the update writes: the item less its key attributes, plus 3, plus 19
// for every SET and 2 for every REMOVE.
func (u *Update) Charge() int {
	if u == nil || u.Param == AttributeUpdates {
		return 0
	}
	n := chargeUpdate
	for _, a := range u.Actions {
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

// stepSize returns the bytes of a name, or the digits of an index.
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
