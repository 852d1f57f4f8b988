package expr

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/lex"

	"github.com/sortkey/sortkey/attr"
)

// A parser parses one expression. It stops at the first syntax error. After any other fault it continues, because a
// fault of a class with a higher priority may follow. It records the first fault of each class.
type parser struct {
	env    *Env
	param  Param
	src    string
	tokens []lex.Token
	pos    int // the next token
	ops    int // operators read
	steps  []ast.Step
	spare  spareNodes

	syntax error
	faults [faultClasses]fault
	// leaf holds the faults of the condition being read.
	leaf [leafClasses]fault
}

// A fault is a message and the token that it is about. An empty msg means that there is no fault.
type fault struct {
	msg string
	tok int
}

// Classes of faults that are recorded once for a whole expression.
const (
	faultParens = iota
	faultOperators
	faultFunction // unknown
	faultMisuse   // known, but misplaced
	faultReserved // also list indexes out of range
	faultSection  // given twice
	faultName     // undefined, in an update
	faultValue    // undefined, in an update
	faultOverlap
	faultConflict
	faultOperand // of ADD or DELETE
	faultLeaf    // the fault of the first condition (or action of an update) that has one of the leaf classes
	faultClasses
)

// The order in which faults are reported. The service has one order for updates
// and one for everything else (dynalite, db/updateParser.pegjs and
// db/conditionParser.pegjs, with the tests that support them).
var (
	faultOrder = [...]int{
		faultParens, faultOperators, faultFunction, faultMisuse, faultReserved, faultLeaf, faultOverlap, faultConflict,
	}
	updateFaultOrder = [...]int{
		faultParens, faultOperators, faultReserved, faultFunction, faultMisuse, faultSection, faultName, faultValue,
		faultOverlap, faultConflict, faultOperand, faultLeaf,
	}
)

// Classes of faults in one comparison or function, the leaves of an expression. All faults of one condition come
// before those of the next.
const (
	leafNames    = iota // undefined names and values
	leafCount           // number of operands
	leafDistinct        // operands that must differ
	leafType            // types of operands
	leafClasses
)

var parsers = sync.Pool{New: func() any { return new(parser) }}

// newParser returns a parser at the beginning of src. The caller must release
// it.
func newParser(e *Env, param Param, src string) (*parser, error) {
	if src == "" {
		return nil, refuse(param, "The expression can not be empty;")
	}
	most := MaxExpressionBytes
	if !isExpression(param) { // PartiQL statements may have longer conditions
		most *= 16
	}
	if len(src) > most {
		return nil, refuse(
			param, "Expression size has exceeded the maximum allowed size; expression size: %d", len(src),
		)
	}
	p := parsers.Get().(*parser)
	*p = parser{env: e, param: param, src: src, tokens: lex.Lex(p.tokens[:0], src), steps: p.steps[:0]}
	return p, nil
}

// spareNodes are the unused nodes of a nodeBlock.
type spareNodes struct {
	paths    []onePath
	values   []ast.ValueOperand
	compares []ast.Compare
	betweens []ast.Between
	ands     []ast.And
	sums     []ast.Arithmetic
	actions  []ast.Action
}

// take returns one of the spare nodes, or a new one.
func take[T any](spare *[]T) *T {
	if len(*spare) == 0 {
		return new(T)
	}
	t := &(*spare)[0]
	*spare = (*spare)[1:]
	return t
}

func (p *parser) release() {
	clear(p.steps[:cap(p.steps)])
	*p = parser{tokens: p.tokens[:0], steps: p.steps[:0]}
	parsers.Put(p)
}

// error returns the fault to report, or nil.
func (p *parser) error() error {
	if p.syntax != nil {
		return p.syntax
	}
	order := faultOrder[:]
	if p.isUpdate() {
		order = updateFaultOrder[:]
	}
	for _, class := range order {
		if f := &p.faults[class]; f.msg != "" {
			return &Error{Param: p.param, Message: f.msg, Offset: int(p.tokens[f.tok].Start), Near: p.text(f.tok)}
		}
	}
	return nil
}

// A part is a condition, or an operand when node is nil. In parentheses there may be either; only the tokens after
// the parentheses show which it is.
type part struct {
	node  ast.Node
	op    ast.Operand
	tok   int // index of the first token
	paren bool
}

// note records a fault of the whole expression, if it is the first of its class.
func (p *parser) note(class, tok int, format string, args ...any) {
	if f := &p.faults[class]; f.msg == "" {
		*f = fault{fmt.Sprintf(format, args...), tok}
	}
}

// noteLeaf records a fault of the current condition, if it is the first of its class.
func (p *parser) noteLeaf(class, tok int, format string, args ...any) {
	if f := &p.leaf[class]; f.msg == "" {
		*f = fault{fmt.Sprintf(format, args...), tok}
	}
}

// noteUndefined records an undefined name or value as a fault. The fault belongs to the current condition, or in an
// update to a class of its own.
func (p *parser) noteUndefined(class, tok int, format string, args ...any) {
	if p.isUpdate() {
		p.note(class, tok, format, args...)
	} else {
		p.noteLeaf(leafNames, tok, format, args...)
	}
}

func (p *parser) isUpdate() bool { return p.param == UpdateExpression }

// misuse records a misplaced function.
func (p *parser) misuse(tok int, fn ast.Func) {
	for p.tokens[tok].Kind == lex.TokLeftParen {
		tok++
	}
	p.note(faultMisuse, tok, "The function is not allowed to be used this way in an expression; function: %s", fn)
}

// endLeaf ends the current condition. Of its faults, endLeaf keeps the one of the first class, unless an earlier
// condition had a fault.
func (p *parser) endLeaf() {
	for i := range p.leaf {
		if f := p.leaf[i]; f.msg != "" {
			p.leaf = [leafClasses]fault{}
			if p.faults[faultLeaf].msg == "" {
				p.faults[faultLeaf] = f
			}
			return
		}
	}
}

func (p *parser) kind() lex.TokenKind { return p.tokens[p.pos].Kind }

// peek returns the kind of the token after the next one.
func (p *parser) peek() lex.TokenKind {
	if p.pos+1 < len(p.tokens) {
		return p.tokens[p.pos+1].Kind
	}
	return lex.TokEOF
}

// text returns the text of a token.
func (p *parser) text(tok int) string {
	t := p.tokens[tok]
	if t.Kind == lex.TokEOF {
		return "<EOF>"
	}
	return p.src[t.Start:t.End]
}

// next consumes a token and returns its index.
func (p *parser) next() int {
	tok := p.pos
	if p.kind() != lex.TokEOF {
		p.pos++
	}
	return tok
}

// expect consumes a token of the given kind. Any other token is a syntax error.
func (p *parser) expect(kind lex.TokenKind) bool {
	if p.kind() != kind {
		p.fail()
		return false
	}
	p.next()
	return true
}

// fail records a syntax error at the next token and skips to the end, so parsing stops. The message quotes the text
// from the previous token to the token after the next one or, if the next token is the last, to the end of the
// expression.
func (p *parser) fail() {
	if p.syntax != nil {
		return
	}
	last := len(p.tokens) - 1
	from := p.tokens[max(p.pos-1, 0)].Start
	to := p.tokens[min(p.pos+1, last)].End
	near := p.src[from:to]
	p.syntax = &Error{
		Param:   p.param,
		Message: `Syntax error; token: "` + p.text(p.pos) + `", near: "` + near + `"`,
		Offset:  int(p.tokens[p.pos].Start),
		Near:    near,
	}
	p.pos = last
}

// operator counts an operator at tok, and records a fault when there are more than MaxOperators.
func (p *parser) operator(tok int) {
	if p.ops++; p.ops == MaxOperators+1 {
		p.note(faultOperators, tok, "The expression contains too many operators; operator count: %d", p.ops)
	}
}

// value parses a :value.
func (p *parser) value() ast.Operand {
	tok := p.next()
	key := p.text(tok)
	v := p.env.value(key)
	if v.IsZero() {
		p.noteUndefined(
			faultValue, tok, "An expression attribute value used in expression is not defined; attribute value: %s",
			key,
		)
	}
	o := take(&p.spare.values)
	o.Place, o.Name, o.Value = p.place(tok), key, v
	return o
}

// place returns the place from a token to the last consumed one.
func (p *parser) place(tok int) ast.Place {
	return ast.Place{Start: p.tokens[tok].Start, End: p.tokens[p.pos-1].End}
}

// onePath is a path of one step together with its operand, so that both need one allocation.
type onePath struct {
	ast.PathOperand
	step [1]ast.Step
}

// path parses a document path. If head is not nil, head is the beginning of the path, in parentheses, and path parses
// the rest.
func (p *parser) path(head *ast.PathOperand) *ast.PathOperand {
	first := p.pos
	steps := p.steps[:0]
	if head == nil {
		var ok bool
		if steps, ok = p.stepName(steps); !ok {
			return nil
		}
	} else {
		steps = append(steps, head.Path...)
	}

	for p.syntax == nil {
		switch p.kind() {
		case lex.TokDot:
			p.next()
			steps, _ = p.stepName(steps)
			continue
		case lex.TokLeftBracket:
			p.next()
			steps = p.stepIndex(steps)
			continue
		}
		break
	}

	p.steps = steps
	if p.syntax != nil {
		return nil
	}
	if len(steps) > MaxPathSteps {
		p.noteUndefined(
			faultName, first, "The document path has too many nesting levels; nesting levels: %d", len(steps),
		)
	}
	text, place := p.pathText(first), p.place(first)
	if head != nil {
		text, place.Start = head.Text+text, head.Start
	}
	if len(steps) == 1 {
		one := take(&p.spare.paths)
		one.Text, one.step = text, [1]ast.Step(steps)
		one.Path, one.Place = one.step[:], place
		return &one.PathOperand
	}
	return &ast.PathOperand{Place: place, Path: append(ast.Path(nil), steps...), Text: text}
}

// pathText returns the text of the tokens from first to the last consumed one,
// without spaces.
func (p *parser) pathText(first int) string {
	text := p.src[p.tokens[first].Start:p.tokens[p.pos-1].End]
	if strings.ContainsAny(text, " \t\r\n") {
		text = strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "").Replace(text)
	}
	return text
}

// stepName parses a name or #name.
func (p *parser) stepName(steps []ast.Step) ([]ast.Step, bool) {
	switch p.kind() {
	case lex.TokIdent:
		tok := p.next()
		word := p.text(tok)
		if IsReserved(word) {
			p.note(faultReserved, tok, "Attribute name is a reserved keyword; reserved keyword: %s", word)
		}
		return append(steps, ast.Step{Name: word}), true
	case lex.TokName:
		tok := p.next()
		key := p.text(tok)
		attribute, ok := p.env.name(key)
		if !ok {
			p.noteUndefined(
				faultName, tok,
				"An expression attribute name used in the document path is not defined; attribute name: %s", key,
			)
			attribute = key
		}
		return append(steps, ast.Step{Name: attribute}), true
	}
	p.fail()
	return steps, false
}

// stepIndex parses the rest of a step [n] after the opening bracket.
func (p *parser) stepIndex(steps []ast.Step) []ast.Step {
	if p.kind() != lex.TokInt {
		p.fail()
		return steps
	}
	tok := p.next()
	n, err := strconv.ParseUint(p.text(tok), 10, 64)
	if err != nil || n > maxListIndex {
		p.note(faultReserved, tok, "List index is not within the allowable range; index: [%s]", p.text(tok))
		n = 0
	}
	p.expect(lex.TokRightBracket)
	return append(steps, ast.Step{Index: int(n)})
}

// kindOf returns the kind of an operand if it does not depend on the item: the
// kind of a value, N for a size, and 0 for a path.
func kindOf(o ast.Operand) attr.Kind {
	switch o := o.(type) {
	case *ast.ValueOperand:
		return o.Value.Kind()
	case *ast.SizeOperand:
		return attr.Number
	}
	return 0
}
