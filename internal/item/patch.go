package item

import (
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item/doc"
)

// A Change is the new value of one attribute of an item. A zero Value removes the attribute. Name is UTF-8 of at most
// [MaxNameBytes].
type Change struct {
	Name  string
	Value attr.Value
}

// AppendWith appends a copy of an item with the changes applied. The changes must be sorted by name in byte order,
// with each name once. AppendWith copies unchanged attributes without decoding them. It allocates only to grow dst.
func AppendWith(dst []byte, it attr.Item, changes []Change) []byte {
	count, size, content := it.Len(), it.Size(), doc.Content(it)
	for _, c := range changes {
		if i, ok := doc.Find(it, c.Name); ok {
			_, old := it.At(i)
			count--
			size -= len(c.Name) + old.Size()
			content -= doc.AttributeLen(len(c.Name), len(old.Raw()))
		}
		if !c.Value.IsZero() {
			count++
			size += len(c.Name) + c.Value.Size()
			content += doc.AttributeLen(len(c.Name), len(c.Value.Raw()))
		}
	}
	p := newPatch(dst, it, count, size, content)
	for _, c := range changes {
		i, ok := doc.Find(it, c.Name)
		p.keep(i)
		if ok {
			p.from++
		}
		if !c.Value.IsZero() {
			p.next()
			p.dst = doc.AppendName(p.dst, byte(c.Value.Kind()), c.Name)
			p.dst = append(p.dst, c.Value.Raw()...)
		}
	}
	p.keep(it.Len())
	return p.dst
}

// AppendOnly appends a copy of an item that has only the attributes for which keep returns true. It copies them
// without decoding them. It may call keep twice for a name.
func AppendOnly(dst []byte, it attr.Item, keep func(name []byte) bool) []byte {
	count, size, content := 0, 0, 0
	var kept uint64 // bit i says whether to keep attribute i, for the first 64
	for i := range it.Len() {
		name, v := it.At(i)
		if !keep(name) {
			continue
		}
		if i < 64 {
			kept |= 1 << i
		}
		count++
		size += len(name) + v.Size()
		content += doc.AttributeLen(len(name), len(v.Raw()))
	}
	p := newPatch(dst, it, count, size, content)
	for i := range it.Len() {
		is := i < 64 && kept>>i&1 != 0
		if i >= 64 {
			name, _ := it.At(i)
			is = keep(name)
		}
		if is {
			p.from = i
			p.keep(i + 1)
		}
	}
	return p.dst
}

// A ListChange is the new value of one element of a list. A zero Value removes the element. Index is the element's
// index before all changes.
type ListChange struct {
	Index int
	Value attr.Value
}

// AppendListWith appends the payload of a new list: v with the changes applied. The changes must be sorted by index,
// with each index once. Values with indexes past the end are appended in the order of their indexes. Removed elements
// leave no gaps. Like [AppendWith] it copies unchanged elements without decoding them. If v is not a list, it counts
// as an empty one.
func AppendListWith(dst []byte, v attr.Value, changes []ListChange) []byte {
	var list attr.Item
	if v.Kind() == attr.List {
		list = v.Raw()
	}
	n := list.Len()
	count, size, content := n, list.Size(), doc.Content(list)
	for _, c := range changes {
		if c.Index < n {
			count--
			old := v.Index(c.Index)
			size -= old.Size()
			content -= 1 + len(old.Raw())
		}
		if !c.Value.IsZero() {
			count++
			size += c.Value.Size()
			content += 1 + len(c.Value.Raw())
		}
	}
	p := newPatch(dst, list, count, size, content)
	for _, c := range changes {
		p.keep(min(c.Index, n))
		if c.Index < n {
			p.from++
		}
		if !c.Value.IsZero() {
			p.next()
			p.dst = append(p.dst, byte(c.Value.Kind()))
			p.dst = append(p.dst, c.Value.Raw()...)
		}
	}
	p.keep(n)
	return p.dst
}

// AppendConcat appends the payload of a list with the elements of two lists.
func AppendConcat(dst []byte, a, b attr.Value) []byte {
	x, y := attr.Item(a.Raw()), attr.Item(b.Raw())
	p := newPatch(dst, x, x.Len()+y.Len(), x.Size()+y.Size(), doc.Content(x)+doc.Content(y))
	p.keep(x.Len())
	p.old, p.from = y, 0
	p.keep(y.Len())
	return p.dst
}

// A patch is a document being built from parts of an old one.
type patch struct {
	dst   []byte
	start int // of the new document in dst
	count int // elements written
	old   []byte
	from  int // the first element of old not yet processed
}

func newPatch(dst []byte, old attr.Item, count, size, content int) patch {
	dst, start := doc.AppendHead(dst, count, size, content)
	return patch{dst: dst, start: start, old: old}
}

// next records that the next element begins at the end of dst.
func (p *patch) next() {
	doc.SetOffset(p.dst, p.start, p.count)
	p.count++
}

// keep copies the old elements before index to.
func (p *patch) keep(to int) {
	if p.from >= to {
		return
	}
	p.dst = doc.AppendElements(p.dst, p.start, p.count, p.old, p.from, to)
	p.count += to - p.from
	p.from = to
}
