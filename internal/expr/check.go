package expr

import (
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr/ast"
)

// Messages for invalid operands.
const (
	msgCount = "Incorrect number of operands for operator or function; operator or function: " +
		"%s, number of operands: %d"
	msgPath     = "Operator or function requires a document path; operator or function: %s"
	msgType     = "Incorrect operand type for operator or function; operator or function: %s, operand type: %s"
	msgDistinct = "The first operand must be distinct from the remaining operands for this operator or function; " +
		"operator: %s, first operand: %s"
	msgTypeName = "Invalid attribute type name found; type: %s, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}"
	msgIn       = "The IN operator is provided with too many operands; number of operands: %d"
	msgKinds    = "The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: " +
		"AttributeValue: %s, upper bound operand: AttributeValue: %s"
	msgBounds = "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; " +
		"lower bound operand: AttributeValue: %s, upper bound operand: AttributeValue: %s"

	// anyType is the type of an operand whose type is unknown. The service
	// lists the kinds in no fixed order.
	anyType = "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"
)

// checkUse records a fault for each part that is a function call and may not be an operand.
func (p *parser) checkUse(parts ...part) {
	for _, x := range parts {
		if call, ok := x.op.(*ast.Call); ok {
			p.misuse(x.tok, call.Func)
		}
	}
}

// checkDistinct records a fault if first is a path and one of rest is the same path.
func (p *parser) checkDistinct(tok int, op string, first ast.Operand, rest ...ast.Operand) {
	path, ok := first.(*ast.PathOperand)
	if !ok {
		return
	}
	for _, r := range rest {
		if other, ok := r.(*ast.PathOperand); ok && path.Path.Equal(other.Path) {
			p.noteLeaf(leafDistinct, tok, msgDistinct, op, path.Path.Message())
			return
		}
	}
}

// checkOrdered records a fault for each operand whose kind has no order. Paths pass, because their kind depends on
// the item; an item whose value has no order does not match.
func (p *parser) checkOrdered(op string, parts ...part) {
	for _, x := range parts {
		if k := kindOf(x.op); !isOrdered(k) {
			p.noteLeaf(leafType, x.tok, msgType, op, k)
		}
	}
}

func (p *parser) checkCompare(tok int, op ast.Op, l, r part) {
	p.checkUse(l, r)
	p.checkDistinct(tok, string(op), l.op, r.op)
	if op != ast.Equal && op != ast.NotEqual {
		p.checkOrdered(string(op), l, r)
	}
}

func (p *parser) checkBetween(tok int, x, lo, hi part) {
	p.checkUse(x, lo, hi)
	p.checkDistinct(tok, "BETWEEN", x.op, lo.op, hi.op)
	p.checkOrdered("BETWEEN", x, lo, hi)
	l, ok := lo.op.(*ast.ValueOperand)
	h, ok2 := hi.op.(*ast.ValueOperand)
	if !ok || !ok2 || l.Value.IsZero() || h.Value.IsZero() {
		return
	}
	if l.Value.Kind() != h.Value.Kind() {
		p.noteLeaf(leafType, tok, msgKinds, l.Value, h.Value)
	} else if n, ok := attr.Compare(l.Value, h.Value); ok && n > 0 {
		p.noteLeaf(leafType, tok, msgBounds, l.Value, h.Value)
	}
}

func (p *parser) checkIn(tok int, x part, list []ast.Operand) {
	p.checkUse(x)
	if len(list) > MaxInOperands {
		p.noteLeaf(leafCount, tok, msgIn, len(list))
	}
	p.checkDistinct(tok, "IN", x.op, list...)
}

// arity returns the number of operands of a function.
func arity(fn ast.Func) (n int, ok bool) {
	switch fn {
	case ast.AttributeExists, ast.AttributeNotExists, ast.Size:
		return 1, true
	case ast.AttributeType, ast.BeginsWith, ast.Contains:
		return 2, true
	}
	return 0, false
}

// checkCall checks a function call in a condition. Its operands have been checked already.
func (p *parser) checkCall(tok int, fn ast.Func, args []ast.Operand) {
	n, ok := arity(fn)
	if !ok {
		if fn == ast.IfNotExists || fn == ast.ListAppend {
			p.note(faultFunction, tok, "The function is not allowed in a condition expression; function: %s", fn)
		} else {
			p.note(faultFunction, tok, "Invalid function name; function: %s", fn)
		}
		return
	}

	if len(args) != n {
		p.noteLeaf(leafCount, tok, msgCount, fn, len(args))
		return
	}
	switch fn {
	case ast.AttributeExists, ast.AttributeNotExists:
		if _, ok := args[0].(*ast.PathOperand); !ok {
			p.noteLeaf(leafType, tok, msgPath, fn)
		}
	case ast.Size:
		if k := kindOf(args[0]); k == attr.Number || k == attr.Bool || k == attr.Null {
			p.noteLeaf(leafType, tok, msgType, fn, k)
		}
	case ast.BeginsWith:
		for _, a := range args {
			if k := kindOf(a); k != 0 && k != attr.String && k != attr.Binary {
				p.noteLeaf(leafType, tok, msgType, fn, k)
			}
		}
	case ast.AttributeType:
		p.checkTypeName(tok, args[1])
	}

	if n > 1 {
		p.checkDistinct(tok, string(fn), args[0], args[1:]...)
	}
}

// checkTypeName checks the second operand of attribute_type. Contrary to the documentation, the first operand may be
// a value too.
func (p *parser) checkTypeName(tok int, o ast.Operand) {
	switch k := kindOf(o); {
	case k == attr.String:
		name := string(o.(*ast.ValueOperand).Value.Raw())
		if _, ok := attr.ParseKind(name); !ok {
			p.noteLeaf(leafType, tok, msgTypeName, name)
		}
	case k != 0:
		p.noteLeaf(leafType, tok, msgType, ast.AttributeType, k)
	default:
		p.noteLeaf(leafType, tok, msgType, ast.AttributeType, anyType)
	}
}

// isOrdered reports whether < and similar operators can compare values of the
// kind. It is true for 0, a kind that depends on the item.
func isOrdered(k attr.Kind) bool { return k == 0 || k.IsScalar() }

// checkUpdateCall checks a function call in an update. Its operands have been checked already. For list_append it
// checks only operands that are values, because the results of functions depend on the item.
func (p *parser) checkUpdateCall(tok int, fn ast.Func, args []ast.Operand) {
	if fn != ast.IfNotExists && fn != ast.ListAppend {
		if _, ok := arity(fn); ok {
			p.note(faultFunction, tok, "The function is not allowed in an update expression; function: %s", fn)
		} else {
			p.note(faultFunction, tok, "Invalid function name; function: %s", fn)
		}
		return
	}

	if fn == ast.ListAppend {
		for _, a := range args {
			if call, ok := a.(*ast.Call); ok && call.Func == ast.ListAppend {
				p.misuse(tok, fn)
			}
		}
	}

	if len(args) != 2 {
		p.noteLeaf(leafCount, tok, msgCount, fn, len(args))
		return
	}
	if fn == ast.IfNotExists {
		if _, ok := args[0].(*ast.PathOperand); !ok {
			p.noteLeaf(leafType, tok, msgPath, fn)
		}
		return
	}

	for _, a := range args {
		if v, ok := a.(*ast.ValueOperand); ok && v.Value.Kind() != attr.List && !v.Value.IsZero() {
			p.noteLeaf(leafType, tok, msgType, fn, v.Value.Kind())
		}
	}
}
