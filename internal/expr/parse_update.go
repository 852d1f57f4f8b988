package expr

import (
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/lex"
)

// Messages for invalid updates. Source of msgOperand, for ADD and for DELETE: captures of the service, eu-west-2,
// 2026-09-17.
const (
	msgSection = `The "%s" section can only be used once in an update expression;`
	msgOperand = "Incorrect operand type for operator or function; operator: %s, operand type: %s, " +
		"typeSet: ALLOWED_FOR_ADD_OPERAND"
)

// parseUpdate parses a whole update.
//
//	update  = section { section }
//	section = SET path "=" value { "," path "=" value } | REMOVE path { "," path }
//	        | ADD path :value { "," path :value } | DELETE path :value { "," path :value }
//	value   = term [ ( "+" | "-" ) term ]
//	term    = "(" value ")" | operand
//
// A sum in parentheses is a whole value. It cannot be an operand of another
// sum.
func (p *parser) parseUpdate() []ast.Action {
	actions := p.spare.actions
	var toks []int
	var seen [lex.TokDelete + 1]bool
	for ok := true; ok; ok = p.syntax == nil && p.kind() != lex.TokEOF {
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
			if p.kind() != lex.TokComma {
				break
			}
			p.next()
		}
	}

	if len(actions) > 1 {
		paths := make([]ast.Path, len(actions))
		for i, a := range actions {
			paths[i] = a.Path.Path
		}
		p.checkPaths(paths, toks)
	}
	return actions
}

// clauseOf returns the clause that a token begins, or "".
func clauseOf(kind lex.TokenKind) ast.Clause {
	switch kind {
	case lex.TokSet:
		return ast.SetClause
	case lex.TokRemove:
		return ast.RemoveClause
	case lex.TokAdd:
		return ast.AddClause
	case lex.TokDelete:
		return ast.DeleteClause
	}
	return ""
}

// action parses one action of a clause.
func (p *parser) action(clause ast.Clause) ast.Action {
	a := ast.Action{Clause: clause, Path: p.path(nil)}
	if p.syntax != nil {
		return a
	}
	switch clause {
	case ast.SetClause:
		if p.expect(lex.TokEqual) {
			a.Value = p.setValue().op
		}
	case ast.AddClause, ast.DeleteClause:
		if p.kind() != lex.TokValue {
			p.fail()
			return a
		}
		tok := p.pos
		a.Value = p.value()
		if name := unsupported(clause, kindOf(a.Value)); name != "" {
			p.note(faultOperand, tok, msgOperand, clause, name)
		}
	}

	return a
}

// setValue parses the value after the "=" of a SET, or a value in parentheses.
func (p *parser) setValue() part {
	l := p.setTerm()
	if _, ok := l.op.(*ast.Arithmetic); ok || p.kind() != lex.TokPlus && p.kind() != lex.TokMinus {
		return l
	}
	tok := p.next()
	p.operator(tok)
	r := p.operandParens()
	if p.syntax != nil {
		return part{}
	}
	n := take(&p.spare.sums)
	*n = ast.Arithmetic{Place: p.place(l.tok), Op: ast.Op(p.text(tok)), L: l.op, R: r.op}
	for _, x := range [...]part{l, r} {
		if v, ok := x.op.(*ast.ValueOperand); ok && v.Value.Kind() != attr.Number && !v.Value.IsZero() {
			p.noteLeaf(leafType, x.tok, msgType, n.Op, v.Value.Kind())
		}
	}
	return part{op: n, tok: l.tok}
}

func (p *parser) setTerm() part {
	tok := p.pos
	if p.kind() != lex.TokLeftParen {
		return part{op: p.operand(), tok: tok}
	}
	p.next()
	return p.closeParen(p.setValue(), tok)
}

// unsupported returns the name of a kind that ADD or DELETE does not support,
// and "" for a supported kind.
func unsupported(clause ast.Clause, k attr.Kind) string {
	switch k {
	case attr.String:
		return "STRING"
	case attr.Number:
		if clause == ast.DeleteClause {
			return "NUMBER"
		}
	case attr.Binary:
		return "BINARY"
	case attr.Bool:
		return "BOOL"
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
