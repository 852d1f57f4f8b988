package attr

import (
	"bytes"
	"slices"
)

// Union returns the set of the members of two sets of one kind. It is the zero
// Value for anything else.
func Union(a, b Value) Value {
	if !a.kind.IsSet() || a.kind != b.kind {
		return Value{}
	}
	return Value{a.kind, AppendUnion(nil, a, b)}
}

// Difference returns the set of the members of a that are not in b, which is of
// the same kind. It is the zero Value for anything else, and when there are no
// such members: no set is empty.
func Difference(a, b Value) Value {
	if !a.kind.IsSet() || a.kind != b.kind {
		return Value{}
	}
	raw, ok := AppendDifference(nil, a, b)
	if !ok {
		return Value{}
	}
	return Value{a.kind, raw}
}

// AppendUnion appends the payload of the union of two sets of one kind.
func AppendUnion(dst []byte, a, b Value) []byte {
	count, size := a.Len(), Item(a.raw).Size()
	for i := range b.Len() {
		if e := b.Index(i); !a.Has(e) {
			count++
			size += e.Size()
		}
	}
	dst = slices.Grow(dst, len(a.raw)+len(b.raw))
	dst, start := appendDocHead(dst, count, size)
	i, j := 0, 0
	for k := range count {
		setDocOffset(dst, start, k)
		switch {
		case j == b.Len():
			dst = append(dst, docEntry(a.raw, i)...)
			i++
		case i == a.Len():
			dst = append(dst, docEntry(b.raw, j)...)
			j++
		default:
			x, y := docEntry(a.raw, i), docEntry(b.raw, j)
			c := bytes.Compare(x, y)
			if c <= 0 {
				dst = append(dst, x...)
				i++
			} else {
				dst = append(dst, y...)
			}
			if c >= 0 {
				j++
			}
		}
	}
	return dst
}

// AppendDifference appends the payload of the set of the members of a that are
// not in b. It reports false, and appends nothing, when there are none.
func AppendDifference(dst []byte, a, b Value) ([]byte, bool) {
	count, size := 0, 0
	for i := range a.Len() {
		if e := a.Index(i); !b.Has(e) {
			count++
			size += e.Size()
		}
	}
	if count == 0 {
		return dst, false
	}
	dst = slices.Grow(dst, len(a.raw))
	dst, start := appendDocHead(dst, count, size)
	k := 0
	for i := range a.Len() {
		if e := a.Index(i); !b.Has(e) {
			setDocOffset(dst, start, k)
			dst = append(dst, e.raw...)
			k++
		}
	}
	return dst, true
}
