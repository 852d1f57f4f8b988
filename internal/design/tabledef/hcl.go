package tabledef

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/sortkey/sortkey/internal/design/advice"
)

// This file reads Terraform's language with its own library, and bounds what a file can make the
// library do: it has no bounds itself, and a file of a few lines can ask for terabytes.

// The bounds of what is read from Terraform files.
const (
	maxSource = 32 << 20  // bytes of all files
	maxFiles  = 1000      // files in the folder of a module
	maxTree   = 1000      // expressions in each other
	maxTokens = 500_000   // words and signs of a file
	maxLines  = 20_000    // lines of a text
	maxParts  = 1000      // expressions in one text
	maxDigits = 4096      // digits of a number, and binary digits before or after its point
	maxBytes  = 4 << 20   // bytes of the texts of a value, which has maxList members
	maxWork   = 128 << 20 // bytes of all values that are made
	maxSteps  = 300_000   // steps to make them, of a few microseconds each
)

// What is made besides texts counts as bytes too.
const (
	expressionWork = 64 // to evaluate an expression
	memberWork     = 32 // for each member of its value
	tableWork      = maxWork / 10_000
	blockWork      = maxWork / 100_000
)

// unifyMembers is for how many pairs of members the library compares their types in one step. It does so for each
// list that a function takes.
const unifyMembers = 64

// A sources has the Terraform files that were read, and what may still be evaluated.
type sources struct {
	bodies map[string]*hclsyntax.Body
	text   map[string][]byte
	bytes  int
	left   int    // of maxWork
	steps  int    // that are left of maxSteps
	values int    // that templates and services may still make, of maxNodes
	over   string // the place of the expression that exceeded left or steps

	library map[string]function.Function
}

func newSources() *sources {
	return &sources{
		bodies: map[string]*hclsyntax.Body{}, text: map[string][]byte{}, left: maxWork, steps: maxSteps,
		values: maxNodes,
	}
}

// The panics, within the evaluation of an expression, that end it.
var (
	errMade  = fmt.Errorf("the files make more than %d MB of values", maxWork>>20)
	errSteps = fmt.Errorf("the files take more than %d steps to evaluate", maxSteps)
)

// exceeded returns the error of having evaluated too much, or nil.
func (s *sources) exceeded() error {
	switch {
	case s.left < 0:
		return errMade
	case s.steps < 0:
		return errSteps
	}
	return nil
}

// spend counts bytes and steps of an expression.
func (s *sources) spend(bytes, steps int) {
	if err := s.charge(bytes, steps); err != nil {
		panic(err)
	}
}

// charge is spend for functions: the library would make an error of a panic, with a trace.
func (s *sources) charge(bytes, steps int) error {
	s.left, s.steps = s.left-bytes, s.steps-steps
	return s.exceeded()
}

// errValues is the error of a template or a service whose functions and variables make too much.
var errValues = fmt.Errorf("its variables and functions make more than %d values", maxNodes)

// block counts a block or module, which costs more than a value. It returns an error when too much has
// been evaluated.
func (s *sources) block(what string, cost int) error {
	err := s.charge(cost, 0)
	if err == nil {
		return nil
	}
	if s.over != "" {
		what = s.over
	}
	return advice.New("load the output of terraform show -json, or look for loops in loops, or a module or stack "+
		"that contains itself", "%s: %w", what, err)
}

// parse parses a file. The error begins with the line and the column.
func (s *sources) parse(name string, src []byte) (*hclsyntax.Body, error) {
	if b := s.bodies[name]; b != nil {
		return b, nil
	}

	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	if s.bytes += len(src); s.bytes > maxSource {
		return nil, fmt.Errorf("%s: the Terraform files have more than %d bytes", filepath.Base(name), maxSource)
	}
	s.text[name] = src
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	if err := s.check(tokens); err != nil {
		return nil, err
	}
	file, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, malformed(diags)
	}

	b := file.Body.(*hclsyntax.Body)
	if diags := hclsyntax.Walk(b, &guards{sources: s}); diags.HasErrors() {
		return nil, malformed(diags)
	}
	s.bodies[name] = b
	return b, nil
}

// expression parses an expression.
func (s *sources) expression(name string, src []byte) (hclsyntax.Expression, error) {
	s.text[name] = src
	tokens, _ := hclsyntax.LexExpression(src, name, hcl.InitialPos)
	if err := s.check(tokens); err != nil {
		return nil, err
	}
	e, diags := hclsyntax.ParseExpression(src, name, hcl.InitialPos)
	if !diags.HasErrors() {
		diags = hclsyntax.Walk(e, &guards{sources: s})
	}
	if diags.HasErrors() {
		return nil, malformed(diags)
	}
	return &guarded{Expression: e, sources: s}, nil
}

// A level is what brackets or quotes enclose.
type level struct {
	chain int  // operators and steps since its last separator
	lines bool // the end of a line separates
}

// nesting has the words of a text's controls that nest.
var nesting = map[string]int{"if": 1, "for": 1, "endif": -1, "endfor": -1}

// check refuses text that would exhaust the stack of the parser or of what walks its tree, or that would
// take the parser long.
func (s *sources) check(tokens hclsyntax.Tokens) error {
	levels := []level{{lines: true}}
	count, controls, lines, melded := 0, 0, 0, 0
	for i, t := range tokens {
		inner := &levels[len(levels)-1]
		if t.Type != hclsyntax.TokenStringLit {
			lines = 0
		}

		switch t.Type {
		case hclsyntax.TokenStringLit:
			// The parser joins each line of a text to those before.
			lines++
			melded += lines
		case hclsyntax.TokenNewline, hclsyntax.TokenComment:
			if inner.lines && bytes.HasSuffix(t.Bytes, []byte("\n")) {
				inner.chain = 0
			}
		case hclsyntax.TokenNumberLit:
			if len(t.Bytes) > maxDigits {
				return fmt.Errorf("%s: the number has more than %d digits", place(t.Range), maxDigits)
			}
		case hclsyntax.TokenComma:
			inner.chain = 0
		case hclsyntax.TokenDot, hclsyntax.TokenOBrack, hclsyntax.TokenQuestion, hclsyntax.TokenBang,
			hclsyntax.TokenPlus, hclsyntax.TokenMinus, hclsyntax.TokenStar, hclsyntax.TokenSlash,
			hclsyntax.TokenPercent, hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenEqualOp,
			hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq,
			hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq:
			inner.chain++
		}

		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenOQuote,
			hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			word := ""
			if i+1 < len(tokens) {
				word = string(tokens[i+1].Bytes)
			}
			levels = append(levels, level{lines: t.Type == hclsyntax.TokenOBrace && word != "for"})
			if t.Type == hclsyntax.TokenTemplateControl {
				controls += nesting[word]
			}
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote,
			hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
			levels = levels[:max(1, len(levels)-1)]
		}

		switch t.Type {
		case hclsyntax.TokenStringLit, hclsyntax.TokenNewline, hclsyntax.TokenComment:
		default:
			count++
		}
		switch {
		case len(levels) > maxDepth+1, controls > maxDepth:
			return fmt.Errorf("%s: brackets nest more than %d deep", place(t.Range), maxDepth)
		case inner.chain > maxTree:
			return fmt.Errorf("%s: the expression has more than %d operators and steps", place(t.Range), maxTree)
		case count > maxTokens:
			return fmt.Errorf("%s: the file has more than %d words and signs", place(t.Range), maxTokens)
		case lines > maxLines || melded > maxLines*maxLines:
			return fmt.Errorf("%s: texts have more than %d lines", place(t.Range), maxLines)
		}
	}
	return nil
}

// place returns where a range begins, for messages.
func place(r hcl.Range) string {
	return fmt.Sprintf("%s:%d:%d", filepath.Base(r.Filename), r.Start.Line, r.Start.Column)
}

// malformed returns the error for the first of the library's messages.
func malformed(diags hcl.Diagnostics) error {
	d := diags.Errs()[0].(*hcl.Diagnostic)
	return advice.New(sentence(d.Detail), "%s: %s", place(*d.Subject), sentence(d.Summary))
}

// sentence returns a message of the library in our style.
func sentence(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text = strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ".")
	first, n := utf8.DecodeRuneInString(text)
	if n == 0 || n < len(text) && unicode.IsUpper(rune(text[n])) {
		return text // an abbreviation
	}
	return string(unicode.ToLower(first)) + text[n:]
}

// A guarded is an expression whose value is bounded, each time that it is evaluated: a loop may do that
// often, and each may double the value of another.
type guarded struct {
	hclsyntax.Expression
	sources *sources
	unified bool // the library makes the types of its value and of another one the same
}

// UnwrapExpression makes the expression visible to package hcl, which reads types from it.
func (g *guarded) UnwrapExpression() hcl.Expression { return g.Expression }

func (g *guarded) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	g.sources.spend(expressionWork, 1)
	v, diags := g.Expression.Value(ctx)
	n := sizeOf(v)
	g.sources.spend(n.members*memberWork+n.bytes/2, n.members/4)
	if g.unified {
		g.sources.spend(0, unifySteps(v, n))
	}
	if n.tooLong() {
		return cty.DynamicVal, diags.Append(problem(g.Range(), "Value too long", "The value is too long."))
	}
	return v, diags
}

// unifySteps returns the steps in which the library may find one type for all members of a value of some
// size: it compares the type of each with that of each other.
func unifySteps(v cty.Value, n size) int {
	types := 0
	switch t := v.Type(); {
	case t.IsTupleType():
		types = t.Length()
	case t.IsObjectType():
		types = len(t.AttributeTypes())
	}
	return types * max(types, n.members) / unifyMembers
}

func problem(at hcl.Range, summary, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at}
}

// A size is how large a value is.
type size struct{ members, bytes int }

func sizeOf(list ...cty.Value) (n size) {
	for _, v := range list {
		n.add(v)
	}
	return n
}

func (n size) tooLong() bool { return n.members > maxList || n.bytes > maxBytes }

// add adds a value, or a part of it that is too long. A number beyond its bounds is too long.
func (n *size) add(v cty.Value) {
	v, _ = v.Unmark()
	n.members++
	switch {
	case !v.IsKnown() || v.IsNull():
	case v.Type() == cty.String:
		text := v.AsString()
		n.bytes += len(text)
		if digits := len(text) - len(strings.TrimLeft(text, "+-._0123456789")); digits > maxDigits {
			n.members += maxList // it would take long to make it a number
		}
	case v.Type() == cty.Number:
		f := v.AsBigFloat()
		if digits := f.MantExp(nil); f.IsInf() || digits > maxDigits || digits < -maxDigits {
			n.members += maxList
		}
	case v.CanIterateElements():
		for it := v.ElementIterator(); !n.tooLong() && it.Next(); {
			key, m := it.Element()
			if !v.Type().IsSetType() && key.Type() == cty.String {
				n.bytes += len(key.AsString())
			}
			n.add(m)
		}
	}
}

// A guards puts guards around the expressions of a tree.
type guards struct {
	*sources
	depth int
}

// Enter is called for each node of a tree, before its children.
func (g *guards) Enter(n hclsyntax.Node) (diags hcl.Diagnostics) {
	if g.depth++; g.depth == maxTree {
		detail := fmt.Sprintf("They nest more than %d deep.", maxTree)
		diags = diags.Append(problem(n.Range(), "Expressions nest too deep", detail))
	}
	if own, ok := n.(*guarded); ok {
		n = own.Expression
	}

	switch n := n.(type) {
	case *hclsyntax.Attribute:
		g.around(&n.Expr)
	case *hclsyntax.LiteralValueExpr:
		if n.Val.Type() == cty.Number && sizeOf(n.Val).tooLong() {
			diags = diags.Append(problem(n.Range(), "Value too long", "A number is too long."))
		}
	case *hclsyntax.ParenthesesExpr:
		g.around(&n.Expression)
	case *hclsyntax.RelativeTraversalExpr:
		if x, ok := n.Source.(*hclsyntax.IndexExpr); ok && madeUp(x.Collection) {
			n.Source, n.Traversal = x.Collection, nil
		}
		g.around(&n.Source)
	case *hclsyntax.FunctionCallExpr:
		g.all(n.Args)
	case *hclsyntax.ConditionalExpr:
		g.around(&n.Condition)
		g.inside(true, &n.TrueResult, &n.FalseResult)
	case *hclsyntax.IndexExpr:
		g.around(&n.Collection, &n.Key)
	case *hclsyntax.TupleConsExpr:
		g.all(n.Exprs)
	case *hclsyntax.ObjectConsExpr:
		for i := range n.Items {
			g.around(&n.Items[i].ValueExpr)
		}
	case *hclsyntax.ForExpr:
		g.around(&n.CollExpr)
		g.inside(false, &n.KeyExpr, &n.ValExpr, &n.CondExpr)
	case *hclsyntax.SplatExpr:
		if madeUp(n.Source) {
			n.Each = n.Item
		}
		g.around(&n.Source, &n.Each)
	case *hclsyntax.BinaryOpExpr:
		g.around(&n.LHS, &n.RHS)
		n.Op = g.operation(n.Op)
	case *hclsyntax.UnaryOpExpr:
		g.around(&n.Val)
	case *hclsyntax.TemplateExpr:
		if parts := g.all(n.Parts); parts > maxParts {
			detail := fmt.Sprintf("The text has more than %d.", maxParts)
			diags = diags.Append(problem(n.Range(), "Too many expressions in a text", detail))
		}
	case *hclsyntax.TemplateJoinExpr:
		g.around(&n.Tuple)
	case *hclsyntax.TemplateWrapExpr:
		g.around(&n.Wrapped)
	}
	return diags
}

// madeUp reports whether an expression is the name of a module or of data, of whose members one text
// takes the place.
func madeUp(e hclsyntax.Expression) bool {
	t, ok := e.(*hclsyntax.ScopeTraversalExpr)
	return ok && len(t.Traversal) == 2 && isMadeUp(t.Traversal.RootName())
}

func isMadeUp(root string) bool {
	return root == "module" || root == "data" || strings.HasPrefix(root, "random_")
}

// Exit is called for each node of a tree, after its children.
func (g *guards) Exit(hclsyntax.Node) hcl.Diagnostics {
	g.depth--
	return nil
}

// around puts guards around expressions that can make large values. The library finds references only
// where they are without one.
func (g *guards) around(list ...*hclsyntax.Expression) {
	for _, e := range list {
		switch (*e).(type) {
		case *guarded, *hclsyntax.ScopeTraversalExpr, *hclsyntax.AnonSymbolExpr, *hclsyntax.LiteralValueExpr:
		default:
			*e = &guarded{Expression: *e, sources: g.sources}
		}
	}
}

// inside puts guards around expressions whatever they are: in parentheses if the library would not find
// references otherwise.
func (g *guards) inside(unified bool, list ...*hclsyntax.Expression) {
	for _, e := range list {
		in := *e
		switch in.(type) {
		case nil:
			continue
		case *hclsyntax.ScopeTraversalExpr, *hclsyntax.AnonSymbolExpr, *hclsyntax.LiteralValueExpr:
			in = &hclsyntax.ParenthesesExpr{Expression: in, SrcRange: in.Range()}
		}
		*e = &guarded{in, g.sources, unified}
	}
}

// all is around for a list. It returns how many are not literals.
func (g *guards) all(list []hclsyntax.Expression) (n int) {
	for i := range list {
		g.around(&list[i])
		if _, literal := list[i].(*hclsyntax.LiteralValueExpr); !literal {
			n++
		}
	}
	return n
}
