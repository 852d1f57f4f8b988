package item

import (
	"encoding/binary"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/doc"
)

// A Change is what becomes of one attribute of an item: it is set to Value, or
// removed when that is zero. Name is UTF-8 of at most [MaxNameBytes].
type Change struct {
	Name  string
	Value attr.Value
}

// AppendWith appends a new item: it with the changes made. These must be in
// byte order of their names, each name once. Nothing is decoded; attributes
// that stay are copied as they lie. Apart from growing dst it does not
// allocate.
func AppendWith(dst []byte, it attr.Item, changes []Change) []byte {
	count, size, length := it.Len(), it.Size(), max(len(it), doc.Head)
	for _, c := range changes {
		if i, ok := find(it, c.Name); ok {
			_, old := it.At(i)
			count--
			size -= len(c.Name) + old.Size()
		}
		if !c.Value.IsZero() {
			count++
			size += len(c.Name) + c.Value.Size()
			length += 4 + doc.AttributeHead + len(c.Name) + len(c.Value.Raw())
		}
	}
	p := newPatch(dst, it, count, size, length)
	for _, c := range changes {
		i, ok := find(it, c.Name)
		p.keep(i)
		if ok {
			p.from++
		}
		if !c.Value.IsZero() {
			p.next()
			p.dst = append(p.dst, byte(c.Value.Kind()))
			p.dst = binary.LittleEndian.AppendUint16(p.dst, uint16(len(c.Name)))
			p.dst = append(p.dst, c.Name...)
			p.dst = append(p.dst, c.Value.Raw()...)
		}
	}
	p.keep(it.Len())
	return p.dst
}

// AppendOnly appends a new item: of it the attributes whose names keep reports
// true for. They are copied as they lie. It may ask for a name twice.
func AppendOnly(dst []byte, it attr.Item, keep func(name []byte) bool) []byte {
	count, size, length := 0, 0, doc.Head
	var kept uint64 // of the first 64
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
		length += 4 + doc.AttributeHead + len(name) + len(v.Raw())
	}
	p := newPatch(dst, it, count, size, length)
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

// find returns the place of the attribute called name, or that where it would
// be.
func find(it attr.Item, name string) (int, bool) {
	lo, hi := 0, it.Len()
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		n, _ := it.At(mid)
		switch {
		case string(n) == name:
			return mid, true
		case string(n) < name:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return lo, false
}

// A ListChange is what becomes of one element of a list: it is set to Value, or
// removed when that is zero. Index is its place before any change.
type ListChange struct {
	Index int
	Value attr.Value
}

// AppendListWith appends the payload of a new list: v with the changes made.
// These must be in order of their indexes, each index once. Values for places
// past the end go to the end, in that order; elements after a removed one close
// up. Like [AppendWith] it copies what stays as it lies. A v that is no
// list counts as an empty one.
func AppendListWith(dst []byte, v attr.Value, changes []ListChange) []byte {
	var list attr.Item
	if v.Kind() == attr.List {
		list = v.Raw()
	}
	n := list.Len()
	count, size, length := n, list.Size(), max(len(list), doc.Head)
	for _, c := range changes {
		if c.Index < n {
			count--
			size -= v.Index(c.Index).Size()
		}
		if !c.Value.IsZero() {
			count++
			size += c.Value.Size()
			length += 5 + len(c.Value.Raw())
		}
	}
	p := newPatch(dst, list, count, size, length)
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

// AppendConcat appends the payload of the list of the elements of two lists.
func AppendConcat(dst []byte, a, b attr.Value) []byte {
	x, y := attr.Item(a.Raw()), attr.Item(b.Raw())
	p := newPatch(dst, x, x.Len()+y.Len(), x.Size()+y.Size(), len(x)+len(y))
	p.keep(x.Len())
	p.old, p.from = y, 0
	p.keep(y.Len())
	return p.dst
}

// patch is a document being made of parts of an old one.
type patch struct {
	dst   []byte
	start int // of the new document in dst
	count int // elements written
	old   []byte
	from  int // the first element of old not yet dealt with
}

func newPatch(dst []byte, old attr.Item, count, size, length int) patch {
	dst, start := doc.AppendHead(slices.Grow(dst, length), count, size)
	return patch{dst: dst, start: start, old: old}
}

// next notes that an element begins here.
func (p *patch) next() {
	doc.SetOffset(p.dst, p.start, p.count)
	p.count++
}

// keep copies the old elements up to the one at to.
func (p *patch) keep(to int) {
	if p.from >= to {
		return
	}
	begin := doc.Offset(p.old, p.from)
	shift := uint32(len(p.dst)-p.start) - begin
	offsets := p.dst[p.start+doc.Head+4*p.count:]
	for i := p.from; i < to; i++ {
		binary.LittleEndian.PutUint32(offsets, doc.Offset(p.old, i)+shift)
		offsets = offsets[4:]
	}
	p.dst = append(p.dst, p.old[begin:doc.Offset(p.old, to)]...)
	p.count += to - p.from
	p.from = to
}
