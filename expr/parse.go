package expr

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/sortkey/sortkey/internal/ast"

	"github.com/sortkey/sortkey/attr"
)

// A parser reads one expression. Reading stops at the first syntax error. Of
// other faults it notes the first of each class and reads on, since a fault of
// a class that goes before may follow.
type parser struct {
	env    *Env
	param  Param
	src    string
	tokens []ast.Token
	pos    int // the next token
	ops    int // operators read
	steps  []ast.Step
	left   left

	syntax error
	faults [faultClasses]fault
	// leaf holds the faults of the condition being read.
	leaf [leafClasses]fault
}

// fault is a message and the token it is about. No message, no fault.
type fault struct {
	msg string
	tok int
}

// Classes of faults in a whole expression.
const (
	faultParens = iota
	faultOperators
	faultFunction // unknown
	faultMisuse   // known, and in the wrong place
	faultReserved // also list indexes out of range
	faultSection  // given twice
	faultName     // undefined, in an update
	faultValue    // undefined, in an update
	faultOverlap
	faultConflict
	faultOperand // of ADD or DELETE
	faultLeaf    // the first condition, or action of an update, with any of the below
	faultClasses
)

// What is reported first: the service has one order for updates and one for
// everything else (dynalite, db/updateParser.pegjs and db/conditionParser.pegjs,
// with the tests that led there).
var (
	faultOrder = [...]int{
		faultParens, faultOperators, faultFunction, faultMisuse, faultReserved, faultLeaf, faultOverlap, faultConflict,
	}
	updateFaultOrder = [...]int{
		faultParens, faultOperators, faultReserved, faultFunction, faultMisuse, faultSection, faultName, faultValue,
		faultOverlap, faultConflict, faultOperand, faultLeaf,
	}
)

// Classes of faults in one comparison or function: those of one condition are
// all considered before those of the next.
const (
	leafNames    = iota // undefined names and values
	leafCount           // number of operands
	leafDistinct        // operands that must differ
	leafType            // what the operands are
	leafClasses
)

var parsers = sync.Pool{New: func() any { return new(parser) }}

// newParser returns a parser at the beginning of src, to be released.
func newParser(e *Env, param Param, src string) (*parser, error) {
	if src == "" {
		return nil, refuse(param, "The expression can not be empty;")
	}
	if len(src) > MaxExpressionBytes {
		return nil, refuse(param, "Expression size has exceeded the maximum allowed size; expression size: %d", len(src))
	}
	p := parsers.Get().(*parser)
	*p = parser{env: e, param: param, src: src, tokens: ast.Lex(p.tokens[:0], src), steps: p.steps[:0]}
	return p, nil
}

// A room has the parts of the tree of a usual expression, so that it is made at
// once. What does not fit is made one by one.
type room struct {
	condition Condition
	paths     [2]onePath
	values    [3]ast.ValueOperand
	compares  [2]ast.Compare
	betweens  [1]ast.Between
	ands      [1]ast.And
}

// left is what is left of a room.
type left struct {
	paths    []onePath
	values   []ast.ValueOperand
	compares []ast.Compare
	betweens []ast.Between
	ands     []ast.And
}

// makeRoom gives p a room.
func (p *parser) makeRoom() *room {
	r := new(room)
	p.left = left{r.paths[:], r.values[:], r.compares[:], r.betweens[:], r.ands[:]}
	return r
}

// take returns the next of what is left, or a new one.
func take[T any](left *[]T) *T {
	if len(*left) == 0 {
		return new(T)
	}
	t := &(*left)[0]
	*left = (*left)[1:]
	return t
}

func (p *parser) release() {
	clear(p.steps[:cap(p.steps)])
	*p = parser{tokens: p.tokens[:0], steps: p.steps[:0]}
	parsers.Put(p)
}

// error returns the fault to report, if there is any.
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
			return &Error{Param: p.param, Msg: f.msg, Pos: int(p.tokens[f.tok].Start), Near: p.text(f.tok)}
		}
	}
	return nil
}

// note records a fault of the whole expression unless there is one of its
// class.
func (p *parser) note(class, tok int, format string, args ...any) {
	if f := &p.faults[class]; f.msg == "" {
		*f = fault{fmt.Sprintf(format, args...), tok}
	}
}

// noteLeaf records a fault of the condition being read unless there is one of
// its class.
func (p *parser) noteLeaf(class, tok int, format string, args ...any) {
	if f := &p.leaf[class]; f.msg == "" {
		*f = fault{fmt.Sprintf(format, args...), tok}
	}
}

// noteUndefined records a fault of a name or value, which is one of the
// condition being read, or in an update of its own class.
func (p *parser) noteUndefined(class, tok int, format string, args ...any) {
	if p.isUpdate() {
		p.note(class, tok, format, args...)
	} else {
		p.noteLeaf(leafNames, tok, format, args...)
	}
}

func (p *parser) isUpdate() bool { return p.param == UpdateExpression }

// endLeaf ends the condition being read.
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

func (p *parser) kind() ast.TokenKind { return p.tokens[p.pos].Kind }

// peek returns the kind of the token after the next.
func (p *parser) peek() ast.TokenKind {
	if p.pos+1 < len(p.tokens) {
		return p.tokens[p.pos+1].Kind
	}
	return ast.TokEOF
}

// text returns the text of a token.
func (p *parser) text(tok int) string {
	t := p.tokens[tok]
	if t.Kind == ast.TokEOF {
		return "<EOF>"
	}
	return p.src[t.Start:t.End]
}

// next takes a token and returns where it is.
func (p *parser) next() int {
	tok := p.pos
	if p.kind() != ast.TokEOF {
		p.pos++
	}
	return tok
}

// expect takes a token of the given kind. Anything else is a syntax error.
func (p *parser) expect(kind ast.TokenKind) bool {
	if p.kind() != kind {
		p.fail()
		return false
	}
	p.next()
	return true
}

// fail makes the next token a syntax error and goes to the end, where nothing
// more is read. The text shown as near runs from the token before to the one
// after, with whatever stands between them, and to the very end when the
// latter is the last.
func (p *parser) fail() {
	if p.syntax != nil {
		return
	}
	last := len(p.tokens) - 1
	from := p.tokens[max(p.pos-1, 0)].Start
	to := p.tokens[min(p.pos+1, last)].End
	near := p.src[from:to]
	p.syntax = &Error{
		Param: p.param,
		Msg:   `Syntax error; token: "` + p.text(p.pos) + `", near: "` + near + `"`,
		Pos:   int(p.tokens[p.pos].Start),
		Near:  near,
	}
	p.pos = last
}

// operator counts an operator at tok.
func (p *parser) operator(tok int) {
	if p.ops++; p.ops == MaxOperators+1 {
		p.note(faultOperators, tok, "The expression contains too many operators; operator count: %d", p.ops)
	}
}

// value reads a :value.
func (p *parser) value() ast.Operand {
	tok := p.next()
	key := p.text(tok)
	v := p.env.value(key)
	if v.IsZero() {
		p.noteUndefined(faultValue, tok, "An expression attribute value used in expression is not defined; attribute value: %s", key)
	}
	o := take(&p.left.values)
	o.Place, o.Name, o.Value = p.place(tok), key, v
	return o
}

// place returns the place from a token to the last that was read.
func (p *parser) place(tok int) ast.Place {
	return ast.Place{Start: p.tokens[tok].Start, End: p.tokens[p.pos-1].End}
}

// onePath is a path of one step, made at once with its operand.
type onePath struct {
	ast.PathOperand
	step [1]ast.Step
}

// path reads a document path, or what follows the one in parentheses that is
// given.
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
		case ast.TokDot:
			p.next()
			steps, _ = p.stepName(steps)
			continue
		case ast.TokLeftBracket:
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
		p.noteUndefined(faultName, first, "The document path has too many nesting levels; nesting levels: %d", len(steps))
	}
	text, place := p.pathText(first), p.place(first)
	if head != nil {
		text, place.Start = head.Text+text, head.Start
	}
	if len(steps) == 1 {
		one := take(&p.left.paths)
		one.Text, one.step = text, [1]ast.Step(steps)
		one.Path, one.Place = one.step[:], place
		return &one.PathOperand
	}
	return &ast.PathOperand{Place: place, Path: append(ast.Path(nil), steps...), Text: text}
}

// pathText returns the tokens from first on, without spaces.
func (p *parser) pathText(first int) string {
	text := p.src[p.tokens[first].Start:p.tokens[p.pos-1].End]
	if strings.ContainsAny(text, " \t\r\n") {
		text = strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "").Replace(text)
	}
	return text
}

// stepName reads a name or #name.
func (p *parser) stepName(steps []ast.Step) ([]ast.Step, bool) {
	switch p.kind() {
	case ast.TokIdent:
		tok := p.next()
		word := p.text(tok)
		if IsReserved(word) {
			p.note(faultReserved, tok, "Attribute name is a reserved keyword; reserved keyword: %s", word)
		}
		return append(steps, ast.Step{Name: word}), true
	case ast.TokName:
		tok := p.next()
		key := p.text(tok)
		attribute, ok := p.env.name(key)
		if !ok {
			p.noteUndefined(faultName, tok, "An expression attribute name used in the document path is not defined; attribute name: %s", key)
			attribute = key
		}
		return append(steps, ast.Step{Name: attribute}), true
	}
	p.fail()
	return steps, false
}

// stepIndex reads the rest of [n].
func (p *parser) stepIndex(steps []ast.Step) []ast.Step {
	if p.kind() != ast.TokInt {
		p.fail()
		return steps
	}
	tok := p.next()
	n, err := strconv.ParseUint(p.text(tok), 10, 64)
	if err != nil || n > maxListIndex {
		p.note(faultReserved, tok, "List index is not within the allowable range; index: [%s]", p.text(tok))
		n = 0
	}
	p.expect(ast.TokRightBracket)
	return append(steps, ast.Step{Index: int(n)})
}

// kindOf returns the kind an operand has whatever the item: that of a value,
// N for a size, and none for a path.
func kindOf(o ast.Operand) attr.Kind {
	switch o := o.(type) {
	case *ast.ValueOperand:
		return o.Value.Kind()
	case *ast.SizeOperand:
		return attr.Number
	}
	return 0
}
