package expr

import "github.com/sortkey/sortkey/attr"

// A part is what parentheses may stand around: a condition, or an operand when
// node is nil. Which of them it is shows only when what follows is known.
type part struct {
	node  Node
	op    Operand
	tok   int // the first token
	paren bool
}

// parseCondition reads a whole condition.
//
//	or      = and { OR and }
//	and     = not { AND not }
//	not     = NOT not | primary
//	primary = "(" or ")" | operand [ comparator operand
//	        | BETWEEN operand AND operand | IN "(" operand { "," operand } ")" ]
func (p *parser) parseCondition() Node {
	n := p.or(false).node
	if p.kind() != tokEOF {
		p.fail()
	}
	return n
}

// or reads conditions joined by OR. Inside parentheses, inParen, it may also
// read an operand up to the closing one.
func (p *parser) or(inParen bool) part {
	l := p.and(inParen)
	for p.kind() == tokOr {
		p.operator(p.next())
		r := p.and(false)
		l = part{node: &Or{l.node, r.node}, tok: l.tok}
	}
	return l
}

func (p *parser) and(inParen bool) part {
	l := p.not(inParen)
	for p.kind() == tokAnd {
		p.operator(p.next())
		r := p.not(false)
		and := take(&p.left.ands)
		*and = And{l.node, r.node}
		l = part{node: and, tok: l.tok}
	}
	return l
}

func (p *parser) not(inParen bool) part {
	if p.kind() != tokNot {
		return p.primary(inParen)
	}
	tok := p.next()
	p.operator(tok)
	return part{node: &Not{p.not(false).node}, tok: tok}
}

func (p *parser) primary(inParen bool) part {
	tok := p.pos
	if p.kind() != tokLeftParen {
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

// closeParen ends parentheses that began at tok. A path in parentheses may go
// on after them, but not in an update (dynalite, test/updateItem.js).
func (p *parser) closeParen(inner part, tok int) part {
	if !p.expect(tokRightParen) {
		return part{}
	}
	if inner.paren {
		p.note(faultParens, tok, "The expression has redundant parentheses;")
	}
	inner.paren, inner.tok = true, tok
	if path, ok := inner.op.(*PathOperand); ok && path != nil && !p.isUpdate() && (p.kind() == tokDot || p.kind() == tokLeftBracket) {
		inner.op = pathOrNil(p.path(path))
		inner.paren = false
	}
	return inner
}

// condition reads what makes an operand a condition. It leaves an operand that
// is followed by the end of the parentheses around it.
func (p *parser) condition(l part, inParen bool) part {
	if p.syntax != nil {
		return part{}
	}
	switch p.kind() {
	case tokEqual, tokNotEqual, tokLess, tokLessOrEqual, tokGreater, tokGreaterOrEqual:
		return p.compare(l)
	case tokBetween:
		return p.between(l)
	case tokIn:
		return p.in(l)
	case tokRightParen:
		if inParen {
			return l
		}
	}
	switch op := l.op.(type) {
	case *Call:
		p.endLeaf()
		return part{node: op, tok: l.tok, paren: l.paren}
	case *SizeOperand:
		p.misuse(l.tok, Size)
		p.endLeaf()
		return part{node: &Call{Func: Size}, tok: l.tok, paren: l.paren}
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
	op := Op(p.text(tok))
	p.checkCompare(tok, op, l, r)
	p.endLeaf()
	c := take(&p.left.compares)
	*c = Compare{op, l.op, r.op}
	return part{node: c, tok: l.tok}
}

func (p *parser) between(l part) part {
	tok := p.next()
	p.operator(tok)
	lo := p.operandParens()
	p.expect(tokAnd)
	hi := p.operandParens()
	if p.syntax != nil {
		return part{}
	}
	p.checkBetween(tok, l, lo, hi)
	p.endLeaf()
	b := take(&p.left.betweens)
	*b = Between{l.op, lo.op, hi.op}
	return part{node: b, tok: l.tok}
}

func (p *parser) in(l part) part {
	tok := p.next()
	p.operator(tok)
	p.expect(tokLeftParen)
	list := p.list()
	if p.syntax != nil {
		return part{}
	}
	p.checkIn(tok, l, list)
	p.endLeaf()
	return part{node: &In{l.op, list}, tok: l.tok}
}

// list reads operands and the parenthesis that ends them.
func (p *parser) list() []Operand {
	var list []Operand
	for p.syntax == nil {
		a := p.operandParens()
		if call, ok := a.op.(*Call); ok && !p.isUpdate() {
			p.misuse(a.tok, call.Func)
		}
		list = append(list, a.op)
		if p.kind() != tokComma {
			break
		}
		p.next()
	}
	p.expect(tokRightParen)
	return list
}

// operandParens reads an operand that may have parentheses around it.
func (p *parser) operandParens() part {
	tok := p.pos
	if p.kind() != tokLeftParen {
		return part{op: p.operand(), tok: tok}
	}
	p.next()
	return p.closeParen(p.operandParens(), tok)
}

// operand reads a path, a value or a function.
func (p *parser) operand() Operand {
	switch p.kind() {
	case tokValue:
		return p.value()
	case tokIdent:
		if p.peek() == tokLeftParen {
			return p.call()
		}
		return pathOrNil(p.path(nil))
	case tokName:
		return pathOrNil(p.path(nil))
	}
	p.fail()
	return nil
}

// pathOrNil makes no operand of no path.
func pathOrNil(path *PathOperand) Operand {
	if path == nil {
		return nil
	}
	return path
}

// call reads a function. It is a [*Call], or in a condition possibly a
// [*SizeOperand].
func (p *parser) call() Operand {
	tok := p.next()
	fn := Func(p.text(tok))
	p.next()
	args := p.list()
	if p.syntax != nil {
		return nil
	}
	if p.isUpdate() {
		p.checkUpdateCall(tok, fn, args)
		return &Call{fn, args}
	}
	p.checkCall(tok, fn, args)
	if fn == Size {
		return &SizeOperand{args[0]}
	}
	return &Call{fn, args}
}

// misuse notes a function where it may not stand.
func (p *parser) misuse(tok int, fn Func) {
	for p.tokens[tok].kind == tokLeftParen {
		tok++
	}
	p.note(faultMisuse, tok, "The function is not allowed to be used this way in an expression; function: %s", fn)
}

// isOrdered reports whether values of the kind can be compared with < and its
// like. No kind means that it depends on the item.
func isOrdered(k attr.Kind) bool { return k == 0 || k.IsScalar() }
