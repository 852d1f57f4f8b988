package keycond

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/store"
)

// bounds returns the range of sort positions for clauses on a left prefix of
// the sort key, of which only the last may be other than [Equal].
func (s *Schema) bounds(clauses []Clause) store.Range {
	if len(clauses) == 0 {
		return store.Range{}
	}
	last := clauses[len(clauses)-1]
	var prefix []byte // positions of all rows that satisfy the equalities
	for _, c := range clauses[:len(clauses)-1] {
		prefix = attr.AppendKey(prefix, c.Values[0])
	}
	whole := store.Range{Lo: nilIfEmpty(prefix), Hi: store.AppendUpper(nil, prefix)}
	v := last.Values[0]
	switch last.Op {
	case Less:
		return store.Range{Lo: whole.Lo, Hi: s.first(prefix, v)}
	case LessEqual:
		return store.Range{Lo: whole.Lo, Hi: s.after(prefix, v)}
	case Greater:
		return store.Range{Lo: s.after(prefix, v), Hi: whole.Hi}
	case GreaterEqual:
		return store.Range{Lo: s.first(prefix, v), Hi: whole.Hi}
	case Between:
		return store.Range{Lo: s.first(prefix, v), Hi: s.after(prefix, last.Values[1])}
	case BeginsWith:
		lo := slices.Clone(prefix)
		if s.Table == nil {
			lo = append(lo, v.Raw()...)
		} else {
			lo = attr.AppendKeyPrefix(lo, v.Raw())
		}
		return store.Range{Lo: lo, Hi: store.AppendUpper(nil, lo)}
	}
	return store.Range{Lo: s.first(prefix, v), Hi: s.after(prefix, v)}
}

// first returns the lowest position a row with component v after prefix can
// have.
func (s *Schema) first(prefix []byte, v attr.Value) []byte {
	if s.Table == nil {
		return append(slices.Clone(prefix), v.Raw()...)
	}
	return attr.AppendKey(slices.Clone(prefix), v)
}

// after returns the lowest position above all rows with component v after
// prefix. In a table that is one row; in an index, all rows that share it.
func (s *Schema) after(prefix []byte, v attr.Value) []byte {
	if s.Table == nil {
		return append(s.first(prefix, v), 0)
	}
	return store.AppendUpper(nil, s.first(prefix, v))
}

func nilIfEmpty(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}
