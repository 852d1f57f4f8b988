package expr

import "github.com/sortkey/sortkey/attr"

// Texts of faults in updates.
const (
	msgSection = `The "%s" section can only be used once in an update expression;`
	msgOperand = "Incorrect operand type for operator or function; operator: %s, operand type: %s"
)

// parseUpdate reads a whole update.
//
//	update  = section { section }
//	section = SET path "=" value { "," path "=" value } | REMOVE path { "," path }
//	        | ADD path :value { "," path :value } | DELETE path :value { "," path :value }
//	value   = term [ ( "+" | "-" ) term ]
//	term    = "(" value ")" | operand
//
// A sum in parentheses is a whole value, not an operand of another.
func (p *parser) parseUpdate() []Action {
	var actions []Action
	var toks []int
	var seen [tokDelete + 1]bool
	for ok := true; ok; ok = p.syntax == nil && p.kind() != tokEOF {
		kind, clause := p.kind(), clauseOf(p.kind())
		if clause == "" {
			p.fail()
			return nil
		}
		tok := p.next()
		if seen[kind] {
			p.note(faultSection, tok, msgSection, clause)
		}
		seen[kind] = true
		for {
			toks = append(toks, p.pos)
			a := p.action(clause)
			if p.syntax != nil {
				return nil
			}
			actions = append(actions, a)
			p.endLeaf()
			if p.kind() != tokComma {
				break
			}
			p.next()
		}
	}
	paths := make([]Path, len(actions))
	for i, a := range actions {
		paths[i] = a.Path.Path
	}
	p.checkPaths(paths, toks)
	return actions
}

// clauseOf returns the clause that a token begins, or "".
func clauseOf(kind tokenKind) Clause {
	switch kind {
	case tokSet:
		return SetClause
	case tokRemove:
		return RemoveClause
	case tokAdd:
		return AddClause
	case tokDelete:
		return DeleteClause
	}
	return ""
}

// action reads one action of a clause.
func (p *parser) action(clause Clause) Action {
	a := Action{Clause: clause, Path: p.path(nil)}
	if p.syntax != nil {
		return a
	}
	switch clause {
	case SetClause:
		if p.expect(tokEqual) {
			a.Value = p.setValue().op
		}
	case AddClause, DeleteClause:
		if p.kind() != tokValue {
			p.fail()
			return a
		}
		tok := p.pos
		a.Value = p.value()
		if name := unfit(clause, kindOf(a.Value)); name != "" {
			p.note(faultOperand, tok, msgOperand, clause, name)
		}
	}
	return a
}

// setValue reads what comes after the "=" of a SET, or such in parentheses.
func (p *parser) setValue() part {
	l := p.setTerm()
	if _, ok := l.op.(*Arithmetic); ok || p.kind() != tokPlus && p.kind() != tokMinus {
		return l
	}
	tok := p.next()
	p.operator(tok)
	r := p.operandParens()
	if p.syntax != nil {
		return part{}
	}
	n := &Arithmetic{Op(p.text(tok)), l.op, r.op}
	for _, x := range [...]part{l, r} {
		if v, ok := x.op.(*ValueOperand); ok && v.Value.Kind() != attr.Number && !v.Value.IsZero() {
			p.noteLeaf(leafType, x.tok, msgType, n.Op, v.Value.Kind())
		}
	}
	return part{op: n, tok: l.tok}
}

func (p *parser) setTerm() part {
	tok := p.pos
	if p.kind() != tokLeftParen {
		return part{op: p.operand(), tok: tok}
	}
	p.next()
	return p.closeParen(p.setValue(), tok)
}

// unfit returns the name of a kind that ADD or DELETE does not take, and "" for
// one it does.
func unfit(clause Clause, k attr.Kind) string {
	switch k {
	case attr.String:
		return "STRING"
	case attr.Number:
		if clause == DeleteClause {
			return "NUMBER"
		}
	case attr.Binary:
		return "BINARY"
	case attr.Bool:
		return "BOOLEAN"
	case attr.Null:
		return "NULL"
	case attr.List:
		return "LIST"
	case attr.Map:
		return "MAP"
	case attr.StringSet, attr.NumberSet, attr.BinarySet:
	}
	return ""
}

// checkUpdateCall checks a function whose operands have been checked. Of the
// operands of list_append only values are looked at: what a function makes of
// an item shows later.
func (p *parser) checkUpdateCall(tok int, fn Func, args []Operand) {
	if fn != IfNotExists && fn != ListAppend {
		if _, ok := arity(fn); ok {
			p.note(faultFunction, tok, "The function is not allowed in an update expression; function: %s", fn)
		} else {
			p.note(faultFunction, tok, "Invalid function name; function: %s", fn)
		}
		return
	}
	if fn == ListAppend {
		for _, a := range args {
			if call, ok := a.(*Call); ok && call.Func == ListAppend {
				p.misuse(tok, fn)
			}
		}
	}
	if len(args) != 2 {
		p.noteLeaf(leafCount, tok, msgCount, fn, len(args))
		return
	}
	if fn == IfNotExists {
		if _, ok := args[0].(*PathOperand); !ok {
			p.noteLeaf(leafType, tok, msgPath, fn)
		}
		return
	}
	for _, a := range args {
		if v, ok := a.(*ValueOperand); ok && v.Value.Kind() != attr.List && !v.Value.IsZero() {
			p.noteLeaf(leafType, tok, msgType, fn, v.Value.Kind())
		}
	}
}
