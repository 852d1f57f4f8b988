package item

import (
	"bytes"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item/doc"
)

// AppendUnion appends the payload of the union of two sets of the same kind.
func AppendUnion(dst []byte, a, b attr.Value) []byte {
	count, size, content := a.Len(), doc.Size(a.Raw()), doc.Content(a.Raw())
	for i := range b.Len() {
		if e := b.Index(i); !a.Has(e) {
			count++
			size += e.Size()
			content += len(e.Raw())
		}
	}
	dst, start := doc.AppendHead(dst, count, size, content)
	i, j := 0, 0
	for k := range count {
		doc.SetOffset(dst, start, k)
		switch {
		case j == b.Len():
			dst = append(dst, doc.Entry(a.Raw(), i)...)
			i++
		case i == a.Len():
			dst = append(dst, doc.Entry(b.Raw(), j)...)
			j++
		default:
			x, y := doc.Entry(a.Raw(), i), doc.Entry(b.Raw(), j)
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

// AppendDifference appends the payload of a set: the members of a that are not in b. If none remain, it appends
// nothing and returns false.
func AppendDifference(dst []byte, a, b attr.Value) ([]byte, bool) {
	count, size, content := 0, 0, 0
	for i := range a.Len() {
		if e := a.Index(i); !b.Has(e) {
			count++
			size += e.Size()
			content += len(e.Raw())
		}
	}
	if count == 0 {
		return dst, false
	}
	dst, start := doc.AppendHead(dst, count, size, content)
	k := 0
	for i := range a.Len() {
		if e := a.Index(i); !b.Has(e) {
			doc.SetOffset(dst, start, k)
			dst = append(dst, e.Raw()...)
			k++
		}
	}
	return dst, true
}
