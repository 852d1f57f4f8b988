package ast

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
)

// Format returns the condition as an expression with parentheses around every condition in it, to show how the parser
// bound the operators. Parsing the result with the same names and values gives the same tree again, unless the result
// is longer than an expression may be.
//
// Format writes the values themselves, as {S:hello}, if they have no names.
func Format(n Node) string { return string(AppendFormat(nil, n)) }

// AppendFormat appends to dst the text that [Format] returns.
func AppendFormat(dst []byte, n Node) []byte { return (*Style)(nil).node(dst, n, weakest) }

// FormatUpdate returns the actions of an update as an expression. It writes each clause once, in the order of the
// clauses' first actions. Values without names are written as {S:hello}.
func FormatUpdate(actions []Action) string { return (*Style)(nil).Update(actions) }

// A Style is a format for expressions. It writes only the parentheses that a condition needs. Its functions can
// replace each attribute name and each value by other text.
type Style struct {
	// Name returns the text to write for a name in a path, and Value the text for a value. If Name is nil, names are
	// written unchanged; if Value is nil, values are written as {S:hello}.
	Name  func(name string) string
	Value func(v attr.Value) string
}

// Condition returns the text of a condition, or "" for nil.
func (s *Style) Condition(n Node) string { return string(s.node(nil, n, weakest)) }

// Update returns the text of the actions of an update. It writes each clause once, in the order of the clauses' first
// actions.
func (s *Style) Update(actions []Action) string {
	var dst []byte
	for i, a := range actions {
		same := func(b Action) bool { return b.Clause == a.Clause }
		if !slices.ContainsFunc(actions[:i], same) {
			dst = s.clause(dst, actions[i:])
		}
	}
	return string(dst)
}

// clause appends the clause of the first action, with all actions that belong to this clause.
func (s *Style) clause(dst []byte, actions []Action) []byte {
	if len(dst) > 0 {
		dst = append(dst, ' ')
	}
	clause := actions[0].Clause
	dst = append(dst, clause...)

	for i, a := range actions {
		if a.Clause != clause {
			continue
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, ' ')
		dst = s.operand(dst, a.Path)
		if clause == SetClause {
			dst = append(dst, " ="...)
		}
		if a.Value != nil {
			dst = append(dst, ' ')
			dst = s.operand(dst, a.Value)
		}
	}
	return dst
}

// Path returns a document path.
func (s *Style) Path(p Path) string { return string(p.append(nil, s.name)) }

// How strongly the operators of conditions bind.
const (
	weakest = iota
	bindsAnd
	bindsNot
	bindsAll
)

func strength(n Node) int {
	switch n.(type) {
	case *Or:
		return weakest
	case *And:
		return bindsAnd
	case *Not:
		return bindsNot
	}
	return bindsAll
}

// node appends a condition. It writes parentheses around the condition if its operator binds less strongly than
// least. A nil Style writes parentheses around every condition except a function call.
func (s *Style) node(dst []byte, n Node, least int) []byte {
	if isNil(n) {
		return dst
	}
	_, isCall := n.(*Call)
	parens := s == nil && !isCall || s != nil && strength(n) < least
	if parens {
		dst = append(dst, '(')
	}
	switch n := n.(type) {
	case *And:
		dst = s.node(dst, n.L, bindsAnd)
		dst = append(dst, " AND "...)
		dst = s.node(dst, n.R, bindsAnd)
	case *Or:
		dst = s.node(dst, n.L, weakest)
		dst = append(dst, " OR "...)
		dst = s.node(dst, n.R, weakest)
	case *Not:
		dst = append(dst, "NOT "...)
		dst = s.node(dst, n.X, bindsNot)
	case *Compare:
		dst = s.infix(dst, n.L, string(n.Op), n.R)
	case *Between:
		dst = s.infix(dst, n.X, "BETWEEN", n.Lo)
		dst = append(dst, " AND "...)
		dst = s.operand(dst, n.Hi)
	case *In:
		dst = s.operand(dst, n.X)
		dst = append(dst, " IN "...)
		dst = s.list(dst, n.List)
	case *Call:
		dst = append(dst, n.Func...)
		dst = s.list(dst, n.Args)
	}
	if parens {
		dst = append(dst, ')')
	}

	return dst
}

func (s *Style) name(name string) string {
	if s == nil || s.Name == nil {
		return name
	}
	return s.Name(name)
}

func (s *Style) value(v attr.Value) string {
	if s.Value == nil {
		return string(v.AppendText(nil))
	}
	return s.Value(v)
}

func (s *Style) infix(dst []byte, l Operand, op string, r Operand) []byte {
	dst = s.operand(dst, l)
	dst = append(dst, ' ')
	dst = append(dst, op...)
	dst = append(dst, ' ')
	return s.operand(dst, r)
}

func (s *Style) list(dst []byte, list []Operand) []byte {
	dst = append(dst, '(')
	for i, o := range list {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = s.operand(dst, o)
	}
	return append(dst, ')')
}

func (s *Style) operand(dst []byte, o Operand) []byte {
	if isNil(o) {
		return dst
	}
	switch o := o.(type) {
	case *PathOperand:
		switch {
		case s != nil:
			return o.Path.append(dst, s.name)
		case o.Text != "":
			return append(dst, o.Text...)
		}
		return append(dst, o.Path.String()...)
	case *ValueOperand:
		switch {
		case s != nil:
			return append(dst, s.value(o.Value)...)
		case o.Name != "":
			return append(dst, o.Name...)
		}
		return o.Value.AppendText(dst)
	case *SizeOperand:
		dst = append(dst, Size...)
		return s.list(dst, []Operand{o.X})
	case *Arithmetic:
		return s.infix(dst, o.L, string(o.Op), o.R)
	case *Call:
		dst = append(dst, o.Func...)
		return s.list(dst, o.Args)
	}
	return dst
}
