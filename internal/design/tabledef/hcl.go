package tabledef

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/sortkey/sortkey/internal/design/advice"
)

// This file parses Terraform's language with the HCL library, which Terraform uses too.

// maxBlocks limits the tables and modules that a Reader reads, because a module can contain itself. maxValues limits
// the values that templates and services make: if each value contains the one before it twice, their size doubles
// with every value.
const (
	maxBlocks = 10_000
	maxValues = 100_000
)

// sources are the Terraform files that a Reader has read, and the rest of the Reader's limits.
type sources struct {
	bodies map[string]*hclsyntax.Body
	text   map[string][]byte
	blocks int // that may still be read
	values int // values that templates and services may still make together
	making int // bytes that the current expression may still make
	kept   int // bytes that the values of all expressions may still take
}

func newSources() *sources {
	return &sources{
		bodies: map[string]*hclsyntax.Body{}, text: map[string][]byte{}, blocks: maxBlocks, values: maxValues,
		kept: maxMade,
	}
}

// errValues is the error of a template or a service that makes more than maxValues values.
var errValues = fmt.Errorf("its variables and functions make more than %d values", maxValues)

// block counts a table or a module. It returns an error once there are more than maxBlocks.
func (s *sources) block(what string) error {
	if s.blocks--; s.blocks < 0 {
		return advice.New(
			"look for a module that contains itself",
			"%s: there are more than %d tables and modules", what, maxBlocks,
		)
	}
	return nil
}

// parse parses a file, and caches the result. An error begins with the file, the line and the column.
func (s *sources) parse(name string, src []byte) (*hclsyntax.Body, error) {
	if b := s.bodies[name]; b != nil {
		return b, nil
	}

	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	s.text[name] = src
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	if err := nesting(tokens); err != nil {
		return nil, err
	}
	file, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, malformed(diags)
	}

	b := file.Body.(*hclsyntax.Body)
	_ = hclsyntax.VisitAll(b, s.prepare)
	s.bodies[name] = b
	return b, nil
}

// expression parses the text of one expression.
func (s *sources) expression(name string, src []byte) (hclsyntax.Expression, error) {
	s.text[name] = src
	tokens, _ := hclsyntax.LexExpression(src, name, hcl.InitialPos)
	if err := nesting(tokens); err != nil {
		return nil, err
	}
	e, diags := hclsyntax.ParseExpression(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, malformed(diags)
	}
	_ = hclsyntax.VisitAll(e, s.prepare)
	return e, nil
}

// nesting returns an error if brackets nest too deep. Otherwise they could overflow the parser's stack, which ends
// the program.
func nesting(tokens hclsyntax.Tokens) error {
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenOQuote,
			hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote,
			hclsyntax.TokenTemplateSeqEnd:
			depth--
		}
		if depth > maxDepth {
			return fmt.Errorf("%s: brackets nest more than %d deep", place(t.Range), maxDepth)
		}
	}
	return nil
}

// place returns the file, the line and the column where a range begins, for messages.
func place(r hcl.Range) string {
	return fmt.Sprintf("%s:%d:%d", filepath.Base(r.Filename), r.Start.Line, r.Start.Column)
}

// malformed returns an error for the first of the library's diagnostics.
func malformed(diags hcl.Diagnostics) error {
	d, ok := errors.AsType[*hcl.Diagnostic](diags.Errs()[0])
	if !ok {
		return diags
	}
	return advice.New(sentence(d.Detail), "%s: %s", place(*d.Subject), sentence(d.Summary))
}

// sentence converts a message of the library to the style of our messages.
func sentence(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text = strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ".")
	first, n := utf8.DecodeRuneInString(text)
	if n == 0 || n < len(text) && unicode.IsUpper(rune(text[n])) {
		return text // an abbreviation
	}
	return string(unicode.ToLower(first)) + text[n:]
}

// withoutMembers removes an index or a splat after a module, a data source or a random resource. One stand-in
// represents all members of these.
func withoutMembers(n hclsyntax.Node) hcl.Diagnostics {
	switch n := n.(type) {
	case *hclsyntax.RelativeTraversalExpr:
		if x, ok := n.Source.(*hclsyntax.IndexExpr); ok && madeUp(x.Collection) {
			n.Source, n.Traversal = x.Collection, nil
		}
	case *hclsyntax.SplatExpr:
		if madeUp(n.Source) {
			n.Each = n.Item
		}
	}
	return nil
}

// madeUp reports whether an expression names a module, a data source or a random resource. These get stand-ins.
func madeUp(e hclsyntax.Expression) bool {
	t, ok := e.(*hclsyntax.ScopeTraversalExpr)
	return ok && len(t.Traversal) == 2 && isMadeUp(t.Traversal.RootName())
}

func isMadeUp(root string) bool {
	return root == "module" || root == "data" || strings.HasPrefix(root, "random_")
}
