package partiql

import (
	"errors"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
)

// update parses what follows UPDATE, or what follows FROM in the other form of UPDATE, which has the WHERE first:
//
//	update = source ( clauses where | where clauses ) [ RETURNING … ]
//
// Source of the other form: conformance fromFirstUpdate.
func (p *parser) update(whereFirst bool) (s *Statement, where ast.Node) {
	s = &Statement{Kind: Update}
	tok := p.pos
	p.source(s)
	if whereFirst {
		where = p.where()
	}
	p.clauses(s)
	if !whereFirst {
		where = p.where()
	}
	p.written(s, tok, where)
	s.Returning = p.returning()
	return s, where
}

// clauses parses the changes of an UPDATE:
//
//	clauses = clause { clause }
//	clause  = SET path "=" change { "," path "=" change } | REMOVE path { "," path }
func (p *parser) clauses(s *Statement) {
	var actions []ast.Action
	first := p.pos
	for p.syntax == nil {
		clause := ast.SetClause
		if p.word("REMOVE") {
			clause = ast.RemoveClause
		} else if !p.word("SET") {
			break
		}
		for range p.elements("", "") {
			a := ast.Action{Clause: clause, Path: p.operand(p.path())}
			if clause == ast.SetClause {
				p.expect("=", "EQ")
				p.change(&a)
			}
			actions = append(actions, a)
		}
	}
	if len(actions) == 0 && p.syntax == nil {
		p.pos = first
		p.malformed(msgStatement)
	}
	if p.syntax != nil || p.meaning != nil {
		return
	}
	update, err := expr.NewUpdate(actions...)
	if refusal, ok := errors.AsType[*expr.Error](err); ok {
		p.fault(first, "%s", refusal.Message)
	}
	s.Update = update
}

const (
	msgKind = "Incorrect operand type for operator or function; operator or function: %s, operand type: %s"
	// msgUpdateOperator is the message for an operator that SET does not support (local).
	msgUpdateOperator = "Unsupported operator in Update Expression. Operator: %s"
)

// change parses the new value of a SET:
//
//	change = term [ ( "+" | "-" ) term ]
//	term   = path | value | function "(" [ term { "," term } ] ")"
func (p *parser) change(a *ast.Action) {
	tok := p.pos
	l := p.changeTerm(a, true)
	op := ast.Op(p.tokens[p.pos].kind)
	switch op {
	case ast.Plus, ast.Minus:
		p.next()
		at := p.pos
		r := p.changeTerm(a, false)
		p.checkKind(tok, string(op), l, attr.Number)
		p.checkKind(at, string(op), r, attr.Number)
		l = &ast.Arithmetic{Op: op, L: l, R: r}
	case "*", "/", "%", "||":
		p.fault(p.next(), msgUpdateOperator, op)
		p.changeTerm(a, false)
	}
	a.Value = l
}

// checkKind records a fault if the operand o is a value whose kind is not k.
func (p *parser) checkKind(tok int, op string, o ast.Operand, k attr.Kind) {
	if v, ok := o.(*ast.ValueOperand); ok && v.Value.Kind() != k {
		p.fault(tok, msgKind, op, v.Value.Kind())
	}
}

// changeTerm parses an operand of a SET. Only the first operand may be set_add or set_delete.
func (p *parser) changeTerm(a *ast.Action, first bool) ast.Operand {
	p.nest()
	defer p.leave()
	switch {
	case p.isValue():
		return p.bound(p.literal())
	case p.accept("("):
		o := p.changeTerm(a, first)
		p.expect(")", "RIGHT_PAREN")
		return o
	case p.atCall():
		return p.changeCall(a, first)
	}
	return p.operand(p.path())
}

func (p *parser) changeCall(a *ast.Action, first bool) ast.Operand {
	tok := p.next()
	fn := strings.ToLower(p.text(tok))
	at := p.pos + 1 // the first argument
	p.expect("(", "LEFT_PAREN")
	var args []ast.Operand
	for range p.elements(")", "RIGHT_PAREN") {
		args = append(args, p.changeTerm(a, false))
	}
	switch {
	case p.syntax != nil:
	case fn == "list_append":
		if len(args) != 2 {
			p.fault(tok, msgCount, fn, len(args))
			break
		}
		p.checkKind(tok, fn, args[0], attr.List)
		p.checkKind(tok, fn, args[1], attr.List)
		return &ast.Call{Func: ast.ListAppend, Args: args}
	case fn == "set_add" && first:
		return p.setChange(a, ast.AddClause, tok, at, args)
	case fn == "set_delete" && first:
		return p.setChange(a, ast.DeleteClause, tok, at, args)
	default:
		p.faultAt(tok, "Unrecognized function: %s", fn)
	}
	return p.null()
}

// setChange parses the arguments of set_add(path, set) or set_delete(path, set), and makes the SET an ADD or DELETE
// action. Source of the messages: conformance partiqlFunctions.
func (p *parser) setChange(a *ast.Action, clause ast.Clause, tok, first int, args []ast.Operand) ast.Operand {
	name := strings.ToUpper(p.text(tok))
	a.Clause = clause
	if len(args) != 2 {
		p.faultAt(tok, "%s must have exactly two arguments", name)
		return p.null()
	}
	if path, ok := args[0].(*ast.PathOperand); !ok || !path.Path.Equal(a.Path.Path) {
		p.faultAt(tok, "The first argument to %s must equal the assignment value", name)
	}
	v, ok := args[1].(*ast.ValueOperand)
	if !ok || !v.Value.Kind().IsSet() {
		p.faultAt(first, "The second argument to %s must be a value with type SET", name)
	}
	return args[1]
}
