package expr

import (
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/lex"
)

// parseCondition parses a whole condition.
//
//	or      = and { OR and }
//	and     = not { AND not }
//	not     = NOT not | primary
//	primary = "(" or ")" | operand [ comparator operand
//	        | BETWEEN operand AND operand | IN "(" operand { "," operand } ")" ]
func (p *parser) parseCondition() ast.Node {
	n := p.or(false).node
	if p.kind() != lex.TokEOF {
		p.fail()
	}
	return n
}

// or parses conditions joined by OR. If inParen is set, the text is inside parentheses and may be an operand instead
// of a condition.
func (p *parser) or(inParen bool) part {
	l := p.and(inParen)
	for p.kind() == lex.TokOr {
		p.operator(p.next())
		r := p.and(false)
		l = part{node: &ast.Or{Place: p.place(l.tok), L: l.node, R: r.node}, tok: l.tok}
	}
	return l
}

func (p *parser) and(inParen bool) part {
	l := p.not(inParen)
	for p.kind() == lex.TokAnd {
		p.operator(p.next())
		r := p.not(false)
		and := take(&p.spare.ands)
		*and = ast.And{Place: p.place(l.tok), L: l.node, R: r.node}
		l = part{node: and, tok: l.tok}
	}
	return l
}

func (p *parser) not(inParen bool) part {
	if p.kind() != lex.TokNot {
		return p.primary(inParen)
	}
	tok := p.next()
	p.operator(tok)
	x := p.not(false).node
	if p.syntax != nil {
		return part{}
	}
	return part{node: &ast.Not{Place: p.place(tok), X: x}, tok: tok}
}

func (p *parser) primary(inParen bool) part {
	tok := p.pos
	if p.kind() != lex.TokLeftParen {
		return p.condition(part{op: p.operand(), tok: tok}, inParen)
	}
	p.next()
	inner := p.or(true)
	inner = p.closeParen(inner, tok)
	if inner.node != nil {
		return inner
	}
	return p.condition(inner, inParen)
}

// closeParen ends parentheses that began at tok. After a path in parentheses, the path may continue, as in (a).b, but
// not in an update (dynalite, test/updateItem.js).
func (p *parser) closeParen(inner part, tok int) part {
	if !p.expect(lex.TokRightParen) {
		return part{}
	}
	if inner.paren {
		p.note(faultParens, tok, "The expression has redundant parentheses;")
	}
	inner.paren, inner.tok = true, tok
	if path, ok := inner.op.(*ast.PathOperand); ok && path != nil && !p.isUpdate() &&
		(p.kind() == lex.TokDot || p.kind() == lex.TokLeftBracket) {
		inner.op = pathOrNil(p.path(path))
		inner.paren = false
	}
	return inner
}

// condition parses the rest of a condition that begins with the operand l. If inParen is set and a closing
// parenthesis follows, l is not part of a condition, and condition returns l itself.
func (p *parser) condition(l part, inParen bool) part {
	if p.syntax != nil {
		return part{}
	}
	switch p.kind() {
	case lex.TokEqual, lex.TokNotEqual, lex.TokLess, lex.TokLessOrEqual, lex.TokGreater, lex.TokGreaterOrEqual:
		return p.compare(l)
	case lex.TokBetween:
		return p.between(l)
	case lex.TokIn:
		return p.in(l)
	case lex.TokRightParen:
		if inParen {
			return l
		}
	}

	switch op := l.op.(type) {
	case *ast.Call:
		p.endLeaf()
		return part{node: op, tok: l.tok, paren: l.paren}
	case *ast.SizeOperand:
		p.misuse(l.tok, ast.Size)
		p.endLeaf()
		return part{node: &ast.Call{Place: p.place(l.tok), Func: ast.Size}, tok: l.tok, paren: l.paren}
	}

	p.fail()
	return part{}
}

func (p *parser) compare(l part) part {
	tok := p.next()
	p.operator(tok)
	r := p.operandParens()
	if p.syntax != nil {
		return part{}
	}
	op := ast.Op(p.text(tok))
	p.checkCompare(tok, op, l, r)
	p.endLeaf()
	c := take(&p.spare.compares)
	*c = ast.Compare{Place: p.place(l.tok), Op: op, L: l.op, R: r.op}
	return part{node: c, tok: l.tok}
}

func (p *parser) between(l part) part {
	tok := p.next()
	p.operator(tok)
	lo := p.operandParens()
	p.expect(lex.TokAnd)
	hi := p.operandParens()
	if p.syntax != nil {
		return part{}
	}
	p.checkBetween(tok, l, lo, hi)
	p.endLeaf()
	b := take(&p.spare.betweens)
	*b = ast.Between{Place: p.place(l.tok), X: l.op, Lo: lo.op, Hi: hi.op}
	return part{node: b, tok: l.tok}
}

func (p *parser) in(l part) part {
	tok := p.next()
	p.operator(tok)
	p.expect(lex.TokLeftParen)
	list := p.list()
	if p.syntax != nil {
		return part{}
	}
	p.checkIn(tok, l, list)
	p.endLeaf()
	return part{node: &ast.In{Place: p.place(l.tok), X: l.op, List: list}, tok: l.tok}
}

// list parses operands and the closing parenthesis.
func (p *parser) list() []ast.Operand {
	var list []ast.Operand
	for p.syntax == nil {
		a := p.operandParens()
		if call, ok := a.op.(*ast.Call); ok && !p.isUpdate() {
			p.misuse(a.tok, call.Func)
		}
		list = append(list, a.op)
		if p.kind() != lex.TokComma {
			break
		}
		p.next()
	}
	p.expect(lex.TokRightParen)
	return list
}

// operandParens parses an operand, optionally in parentheses.
func (p *parser) operandParens() part {
	tok := p.pos
	if p.kind() != lex.TokLeftParen {
		return part{op: p.operand(), tok: tok}
	}
	p.next()
	return p.closeParen(p.operandParens(), tok)
}

// operand parses a path, a value or a function.
func (p *parser) operand() ast.Operand {
	switch p.kind() {
	case lex.TokValue:
		return p.value()
	case lex.TokIdent:
		if p.peek() == lex.TokLeftParen {
			return p.call()
		}
		return pathOrNil(p.path(nil))
	case lex.TokName:
		return pathOrNil(p.path(nil))
	}
	p.fail()
	return nil
}

// pathOrNil returns path as an operand. For a nil path it returns nil, because an interface that holds a nil pointer
// would not equal nil.
func pathOrNil(path *ast.PathOperand) ast.Operand {
	if path == nil {
		return nil
	}
	return path
}

// call parses a function. It returns a [*Call] or, in a condition, possibly a
// [*SizeOperand].
func (p *parser) call() ast.Operand {
	tok := p.next()
	fn := ast.Func(p.text(tok))
	p.next()
	args := p.list()
	if p.syntax != nil {
		return nil
	}
	if p.isUpdate() {
		p.checkUpdateCall(tok, fn, args)
		return &ast.Call{Place: p.place(tok), Func: fn, Args: args}
	}
	p.checkCall(tok, fn, args)
	if fn == ast.Size {
		return &ast.SizeOperand{Place: p.place(tok), X: args[0]}
	}
	return &ast.Call{Place: p.place(tok), Func: fn, Args: args}
}
