package explain

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/text"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// clauseText returns a key condition as a person would write it.
func clauseText(c keycond.Clause) string {
	name, v := text.Name(c.Attribute.Name), text.Literal(c.Values[0])
	switch c.Op {
	case ast.OpBetween:
		return name + " BETWEEN " + v + " AND " + text.Literal(c.Values[1])
	case ast.OpBeginsWith:
		return "begins_with(" + name + ", " + v + ")"
	}
	return name + " " + string(c.Op) + " " + v
}

func clausesText(clauses []keycond.Clause) string {
	parts := make([]string, len(clauses))
	for i, c := range clauses {
		parts[i] = clauseText(c)
	}
	return strings.Join(parts, " AND ")
}

// bounds fills in the range of a slice.
func (r *Report) bounds(s *keycond.Schema, slice *keycond.Slice) {
	n := len(s.Hash)
	r.Clauses = clausesText(slice.Clauses)
	r.Partition = Bound{Bytes: slice.Partition, Text: clausesText(slice.Clauses[:n]), Inclusive: true}
	r.Low = Bound{Bytes: slice.Range.Lo}
	r.High = Bound{Bytes: slice.Range.Hi}
	sort := slice.Clauses[n:]
	if len(sort) == 0 {
		return
	}
	var equal []string
	for _, c := range sort[:len(sort)-1] {
		equal = append(equal, text.Literal(c.Values[0]))
	}
	words := func(last ...string) string {
		parts := append(slices.Clip(equal), last...)
		if len(s.Range) == 1 {
			return strings.Join(parts, ", ")
		}
		return "(" + strings.Join(parts, ", ") + ")"
	}
	low, high := edges(sort[len(sort)-1])
	side := func(b *Bound, e edge) {
		switch {
		case e.open && len(equal) > 0: // all there is with the components before
			b.Text, b.Inclusive = words(), true
		case !e.open:
			b.Text, b.Inclusive = words(e.text()), e.inclusive
		}
	}
	side(&r.Low, low)
	side(&r.High, high)
	if r.High.Text == "" && r.High.Bytes != nil { // above every value there can be
		r.High.Text = text.Quote(r.High.Bytes)
	}
}

// An edge is where a condition on one attribute begins or ends.
type edge struct {
	open      bool
	inclusive bool
	value     attr.Value
	// raw is the edge when no value of the kind lies exactly there.
	raw []byte
}

func (e edge) text() string {
	if e.raw != nil {
		return text.Quote(e.raw)
	}
	return text.Literal(e.value)
}

// edges returns both edges of a clause.
func edges(c keycond.Clause) (low, high edge) {
	open := edge{open: true}
	v := c.Values[0]
	switch c.Op {
	case ast.Less:
		return open, edge{value: v}
	case ast.LessOrEqual:
		return open, edge{value: v, inclusive: true}
	case ast.Greater:
		return edge{value: v}, open
	case ast.GreaterOrEqual:
		return edge{value: v, inclusive: true}, open
	case ast.OpBetween:
		return edge{value: v, inclusive: true}, edge{value: c.Values[1], inclusive: true}
	case ast.OpBeginsWith:
		low = edge{value: v, inclusive: true}
		upper := store.AppendUpper(nil, v.Raw())
		next, ok := afterPrefix(v)
		switch {
		case upper == nil || !ok:
			return low, open
		case v.Kind() == attr.String && !utf8.Valid(upper):
			return low, edge{value: next, raw: upper}
		}
		return low, edge{value: next}
	}
	return edge{value: v, inclusive: true}, edge{value: v, inclusive: true}
}

// afterPrefix returns the lowest value of v's kind above all that begin with
// v, and whether there is one. Strings are valid UTF-8, so it is the prefix
// with its last character one higher.
func afterPrefix(v attr.Value) (attr.Value, bool) {
	if v.Kind() == attr.Binary {
		upper := store.AppendUpper(nil, v.Raw())
		return attr.NewBinary(upper), upper != nil
	}
	const first, last = 0xD800, 0xDFFF // surrogates are no characters
	raw := v.Raw()
	for len(raw) > 0 {
		r, n := utf8.DecodeLastRune(raw)
		raw = raw[:len(raw)-n]
		if r >= utf8.MaxRune {
			continue
		}
		if r++; r >= first && r <= last {
			r = last + 1
		}
		return attr.NewString(string(utf8.AppendRune(slices.Clip(raw), r))), true
	}
	return attr.Value{}, false
}

// nodeText returns a condition with the values in it.
func nodeText(n ast.Node) string { return string(appendNode(nil, n, plainTerms{})) }

// terms write the names and values of an expression.
type terms interface {
	name(name string) string
	value(v attr.Value) string
}

type plainTerms struct{}

func (plainTerms) name(name string) string   { return text.Name(name) }
func (plainTerms) value(v attr.Value) string { return text.Literal(v) }

// binding strengths of conditions.
const (
	bindOr = iota
	bindAnd
	bindNot
	bindAtom
)

func strength(n ast.Node) int {
	switch n.(type) {
	case *ast.Or:
		return bindOr
	case *ast.And:
		return bindAnd
	case *ast.Not:
		return bindNot
	}
	return bindAtom
}

// appendNode appends a condition as an expression with no more parentheses
// than it needs.
func appendNode(dst []byte, n ast.Node, t terms) []byte {
	inner := func(dst []byte, x ast.Node, least int) []byte {
		if strength(x) >= least {
			return appendNode(dst, x, t)
		}
		dst = append(dst, '(')
		dst = appendNode(dst, x, t)
		return append(dst, ')')
	}
	infix := func(l ast.Node, op string, r ast.Node, least int) []byte {
		dst = inner(dst, l, least)
		dst = append(dst, op...)
		return inner(dst, r, least)
	}
	operands := func(dst []byte, list []ast.Operand) []byte {
		dst = append(dst, '(')
		for i, o := range list {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendTerm(dst, o, t)
		}
		return append(dst, ')')
	}
	switch n := n.(type) {
	case *ast.Or:
		return infix(n.L, " OR ", n.R, bindOr)
	case *ast.And:
		return infix(n.L, " AND ", n.R, bindAnd)
	case *ast.Not:
		return inner(append(dst, "NOT "...), n.X, bindNot)
	case *ast.Compare:
		dst = appendTerm(dst, n.L, t)
		dst = append(dst, " "+string(n.Op)+" "...)
		return appendTerm(dst, n.R, t)
	case *ast.Between:
		dst = appendTerm(dst, n.X, t)
		dst = append(dst, " BETWEEN "...)
		dst = appendTerm(dst, n.Lo, t)
		dst = append(dst, " AND "...)
		return appendTerm(dst, n.Hi, t)
	case *ast.In:
		dst = appendTerm(dst, n.X, t)
		return operands(append(dst, " IN "...), n.List)
	case *ast.Call:
		return operands(append(dst, n.Func...), n.Args)
	}
	return dst
}

func appendTerm(dst []byte, o ast.Operand, t terms) []byte {
	switch o := o.(type) {
	case *ast.PathOperand:
		return appendPath(dst, o.Path, t)
	case *ast.ValueOperand:
		return append(dst, t.value(o.Value)...)
	case *ast.SizeOperand:
		dst = appendTerm(append(dst, "size("...), o.X, t)
		return append(dst, ')')
	}
	return dst
}

func appendPath(dst []byte, p ast.Path, t terms) []byte {
	for i, step := range p {
		switch {
		case step.Name == "":
			dst = append(dst, '[')
			dst = appendInt(dst, step.Index)
			dst = append(dst, ']')
			continue
		case i > 0:
			dst = append(dst, '.')
		}
		dst = append(dst, t.name(step.Name)...)
	}
	return dst
}
