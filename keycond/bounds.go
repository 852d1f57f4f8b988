package keycond

import (
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/store"
)

// An arena holds the bytes of one [Slice]. It is an empty byte slice whose capacity is the free memory.
type arena []byte

// take returns b, which the caller has appended to the arena, and moves the arena past it.
func (r *arena) take(b []byte) []byte {
	*r = b[len(b):]
	return b[:len(b):len(b)]
}

// upper is [store.AppendUpper].
func (r *arena) upper(prefix []byte) []byte {
	b := store.AppendUpper(*r, prefix)
	if b == nil {
		return nil
	}
	return r.take(b)
}

// bounds returns the range of sort positions that meet clauses on the first attributes of the sort key. All clauses
// except the last one must be equalities.
func (s *Schema) bounds(r *arena, clauses []Clause) store.Range {
	if len(clauses) == 0 {
		return store.Range{}
	}
	last := clauses[len(clauses)-1]
	var prefix []byte // the values of the equalities as a tuple: every matching position begins with it
	if len(clauses) > 1 {
		b := []byte(*r)
		for _, c := range clauses[:len(clauses)-1] {
			b = item.AppendKey(b, c.Values[0])
		}
		prefix = r.take(b)
	}

	v := last.Values[0]
	switch last.Op {
	case ast.Less:
		return store.Range{Lo: prefix, Hi: s.first(r, prefix, v)}
	case ast.LessOrEqual:
		return store.Range{Lo: prefix, Hi: s.after(r, prefix, v)}
	case ast.Greater:
		return store.Range{Lo: s.after(r, prefix, v), Hi: r.upper(prefix)}
	case ast.GreaterOrEqual:
		return store.Range{Lo: s.first(r, prefix, v), Hi: r.upper(prefix)}
	case ast.OpBetween:
		return store.Range{Lo: s.first(r, prefix, v), Hi: s.after(r, prefix, last.Values[1])}
	case ast.OpBeginsWith:
		lo := append([]byte(*r), prefix...)
		if s.table == nil {
			lo = append(lo, v.Raw()...)
		} else {
			lo = item.AppendKeyPrefix(lo, v.Raw())
		}
		lo = r.take(lo)
		return store.Range{Lo: lo, Hi: r.upper(lo)}
	}

	return store.Range{Lo: s.first(r, prefix, v), Hi: s.after(r, prefix, v)}
}

// first returns the lowest sort position of a row whose sort key begins with prefix, followed by component v.
func (s *Schema) first(r *arena, prefix []byte, v attr.Value) []byte {
	b := append([]byte(*r), prefix...)
	if s.table == nil {
		return r.take(append(b, v.Raw()...))
	}
	return r.take(item.AppendKey(b, v))
}

// after returns the lowest position above all rows whose sort key begins with prefix, followed by component v. A
// table has at most one such row in a partition; an index may have several, because sort keys may be equal.
func (s *Schema) after(r *arena, prefix []byte, v attr.Value) []byte {
	if s.table == nil {
		b := append([]byte(*r), prefix...)
		return r.take(append(append(b, v.Raw()...), 0))
	}
	return r.upper(s.first(r, prefix, v))
}
