package partiql

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr/ast"
)

// A part is a parsed part of a WHERE: a condition or, if node is nil, the operand op. Parentheses may contain either,
// so the parser learns only later which of them it needs.
type part struct {
	node ast.Node
	op   ast.Operand
}

const (
	msgOperator = "Unsupported operator in Condition Expression. Operator: %s" // local
	msgCount    = "Incorrect number of operands for operator or function; operator or function: " +
		"%s, number of operands: %d"
)

// or parses conditions joined by OR:
//
//	or      = and { OR and }
//	and     = not { AND not }
//	not     = NOT not | compare
//	compare = operand [ operator operand | [ NOT ] BETWEEN operand AND operand
//	        | [ NOT ] IN list | IS [ NOT ] type ]
//	operand = "(" or ")" | function "(" [ operand { "," operand } ] ")" | path | value
func (p *parser) or() part {
	return p.joined("OR", p.and, func(l, r ast.Node) ast.Node { return &ast.Or{L: l, R: r} })
}

func (p *parser) and() part {
	return p.joined("AND", p.not, func(l, r ast.Node) ast.Node { return &ast.And{L: l, R: r} })
}

func (p *parser) joined(word string, operand func() part, join func(l, r ast.Node) ast.Node) part {
	const msg = "The arguments to AND/OR must be Expressions" // local
	tok := p.pos
	l := operand()
	for p.word(word) {
		at := p.pos
		r := operand()
		l = part{node: join(p.boolean(l, tok, msg), p.boolean(r, at, msg))}
	}
	return l
}

// boolean returns the condition of a part. If the part is an operand instead, boolean records a fault.
func (p *parser) boolean(x part, tok int, msg string) ast.Node {
	if x.node != nil {
		return x.node
	}
	p.fault(tok, "%s", msg)
	return &ast.Compare{Op: ast.Equal, L: p.null(), R: p.null()}
}

func (p *parser) not() part {
	if !p.word("NOT") {
		return p.compare()
	}
	p.nest()
	defer p.leave()
	tok := p.pos
	x := p.boolean(p.not(), tok, "The argument to NOT must be a Type or Expression") // local
	return part{node: &ast.Not{X: x}}
}

// comparisons are the operators that compare two operands.
var comparisons = map[kind]ast.Op{
	"=": ast.Equal, "<>": ast.NotEqual, "!=": ast.NotEqual,
	"<": ast.Less, "<=": ast.LessOrEqual, ">": ast.Greater, ">=": ast.GreaterOrEqual,
}

func (p *parser) compare() part {
	first := p.pos
	l := p.primary()
	if op, ok := comparisons[p.tokens[p.pos].kind]; ok {
		tok := p.next()
		r := p.primary()
		if l.node != nil || r.node != nil {
			return p.truth(tok, op, l, r)
		}
		return part{node: &ast.Compare{Op: op, L: l.op, R: r.op}}
	}
	if not := p.atWord(0, "NOT"); not && (p.atWord(1, "BETWEEN") || p.atWord(1, "IN")) {
		p.next()
		return part{node: &ast.Not{X: p.boolean(p.predicate(first, l), first, "")}}
	}
	return p.predicate(first, l)
}

// predicate parses BETWEEN, IN or IS after the operand l. If none of them follows, it returns l.
func (p *parser) predicate(first int, l part) part {
	tok := p.pos
	switch {
	case p.word("BETWEEN"):
		lo := p.plain(p.primary(), tok)
		p.expectWord("AND")
		hi := p.plain(p.primary(), tok)
		return part{node: &ast.Between{X: p.plain(l, first), Lo: lo, Hi: hi}}
	case p.word("IN"):
		return part{node: &ast.In{X: p.plain(l, first), List: p.members(tok)}}
	case p.word("IS"):
		not := p.word("NOT")
		node := p.isType(p.plain(l, first), tok)
		if not {
			node = negated(node)
		}
		return part{node: node}
	}
	return l
}

// negated returns the opposite of the condition n: for IS NOT, n is the condition for IS.
func negated(n ast.Node) ast.Node {
	if call, ok := n.(*ast.Call); ok && call.Func == ast.AttributeNotExists {
		return &ast.Call{Func: ast.AttributeExists, Args: call.Args}
	}
	return &ast.Not{X: n}
}

// truth returns the condition for a comparison of a condition with TRUE or FALSE, such as "condition = TRUE".
func (p *parser) truth(tok int, op ast.Op, l, r part) part {
	if l.node == nil {
		l, r = r, l
	}
	v, ok := r.op.(*ast.ValueOperand)
	if !ok || v.Value.Kind() != attr.Bool || op != ast.Equal && op != ast.NotEqual {
		p.fault(tok, msgOperator, op)
		return l
	}
	if v.Value.Bool() == (op == ast.Equal) {
		return l
	}
	return part{node: &ast.Not{X: l.node}}
}

// plain returns the operand of a part. If the part is a condition instead, plain records a fault.
func (p *parser) plain(x part, tok int) ast.Operand {
	if x.op != nil {
		return x.op
	}
	p.fault(tok, msgOperator, p.text(tok))
	return p.null()
}

// members parses the list after IN. The list may be in brackets, in parentheses or in << >>.
func (p *parser) members(tok int) (list []ast.Operand) {
	closing := map[kind]kind{"[": "]", "(": ")", "<<": ">>"}[p.tokens[p.pos].kind]
	if closing == "" {
		p.fault(tok, msgIn)
		p.primary()
		return nil
	}
	p.next()
	for range p.elements(closing, "RIGHT_PAREN") {
		list = append(list, p.plain(p.primary(), p.pos))
	}
	if len(list) == 0 {
		p.fault(tok, msgIn)
	}
	return list
}

const msgIn = "IN operator must have a left hand argument of type Variable Reference and right hand argument of type " +
	"Seq with at least one member" // local

// typeNames are the type names that may follow IS.
var typeNames = map[string]attr.Kind{
	"NULL": attr.Null, "BOOLEAN": attr.Bool, "BOOL": attr.Bool, "BLOB": attr.Binary, "STRING": attr.String,
	"NUMERIC": attr.Number, "STRUCT": attr.Map, "TUPLE": attr.Map, "LIST": attr.List,
}

// isType parses the type name after IS and returns the condition that x has that type.
func (p *parser) isType(x ast.Operand, tok int) ast.Node {
	if !p.is(tokWord) {
		p.malformed(msgTerm)
		return nil
	}
	name := strings.ToUpper(p.text(p.next()))
	if name == "MISSING" {
		return &ast.Call{Func: ast.AttributeNotExists, Args: []ast.Operand{x}}
	}
	k, ok := typeNames[name]
	if !ok {
		p.fault(tok, "Unsupported data type for IS operator: %s. Supported data types are [MISSING, NULL, BOOLEAN, "+
			"BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST]", name) // local
	}
	return &ast.Call{Func: ast.AttributeType, Args: []ast.Operand{x, p.bound(attr.NewString(k.String()))}}
}

// primary parses an operand, a function call, or a condition or operand in parentheses.
func (p *parser) primary() part {
	p.nest()
	defer p.leave()
	x := p.term()
	for p.syntax == nil && slices.Contains([]kind{"+", "-", "*", "/", "%", "||"}, p.tokens[p.pos].kind) {
		tok := p.next()
		p.fault(tok, msgOperator, p.text(tok))
		p.term()
	}
	return x
}

func (p *parser) term() part {
	tok := p.pos
	switch {
	case p.accept("("):
		x := p.or()
		p.expect(")", "RIGHT_PAREN")
		return x
	case p.isValue():
		return part{op: p.bound(p.literal())}
	case p.atCall():
		return p.function()
	case p.word("MISSING"):
		p.fault(tok, "MISSING must be compared using IS operator") // local
		return part{op: p.null()}
	}
	return part{op: p.operand(p.path())}
}

// functions has the number of operands of each function of conditions.
var functions = map[ast.Func]int{
	ast.AttributeExists: 1, ast.AttributeNotExists: 1, ast.Size: 1,
	ast.AttributeType: 2, ast.BeginsWith: 2, ast.Contains: 2,
}

// function parses a function call. Case does not matter in the function's name.
func (p *parser) function() part {
	tok := p.next()
	fn := ast.Func(strings.ToLower(p.text(tok)))
	args := p.arguments()
	n, ok := functions[fn]
	switch {
	case !ok:
		p.faultAt(tok, "Unrecognized function: %s", fn) // conformance partiqlFunctions
	case len(args) != n:
		p.fault(tok, msgCount, fn, len(args)) // conformance partiqlFunctions
	case fn == ast.Size:
		return part{op: &ast.SizeOperand{X: args[0]}}
	default:
		return part{node: &ast.Call{Func: fn, Args: args}}
	}
	return part{op: p.null()}
}

// arguments parses the operands of a function call, including the parentheses.
func (p *parser) arguments() (args []ast.Operand) {
	p.nest()
	defer p.leave()
	p.expect("(", "LEFT_PAREN")
	for range p.elements(")", "RIGHT_PAREN") {
		args = append(args, p.plain(p.primary(), p.pos))
	}
	return args
}
