package memory

import (
	"slices"
	"sync/atomic"
)

const (
	// A new page for n bytes gets n/spareShare bytes of free space. A node replaces a page in which the dead bytes
	// exceed half of the live bytes by more than deadBytes.
	spareShare = 8
	deadBytes  = 256
	someSpare  = -1 // as the argument spare of pack and newPage: 1/spareShare of the page's bytes

	// overflowStep is the number of entries by which the slice of a node's overflows grows.
	overflowStep = 8
)

// place adds a record, whose key begins with the base, to the page, and returns its offset. If the page is full or
// wasteful, place makes a new one first. If the record replaces that of an entry, gone is the entry's index;
// otherwise gone is fan.
func (n *node) place(r *record, gone int) (offset uint16) {
	size, in := n.sizeOf(r)
	if size == 0 {
		return 0
	}
	for {
		if n.taken == nil {
			n.renew(size, gone)
			continue
		}
		at := int(n.taken.Load())
		if at+size > len(n.page) || n.wasteful(at) {
			n.renew(size, gone)
			continue
		}
		if n.taken.CompareAndSwap(uint32(at), uint32(at+size)) {
			n.write(n.page[at:at+size], r, in)
			n.live += uint16(size)
			n.used = uint16(at + size)
			return uint16(at)
		}
	}
}

// renew copies the records of all entries except gone to a new page, which has space for size more bytes and some
// spare.
func (n *node) renew(size, gone int) {
	live := int(n.live)
	page := newPage(live+size, someSpare)
	if n.used == n.live {
		// No bytes are dead, as in a node that only grows.
		copy(page, n.page[:live])
	} else {
		taken := copy(page, n.page[:int(n.base)+int(n.original)])
		for i := n.first(); i < int(n.n); i++ {
			if i == gone || n.hasOverflow(i) && n.overflow(i).long != nil {
				continue
			}
			from := n.page[n.offsets[i]:]
			n.offsets[i] = uint16(taken)
			taken += copy(page[taken:], from[:n.sizeAt(from)])
		}
	}
	n.page, n.taken, n.used = page, new(atomic.Uint32), n.live
	n.taken.Store(uint32(live))
}

// newPage returns a page for size bytes with spare free bytes.
func newPage(size, spare int) []byte {
	if spare == someSpare {
		spare = size / spareShare
	}
	page := slices.Grow([]byte(nil), min(size+spare, mostTaken))
	return page[:min(cap(page), mostTaken)]
}

// wasteful reports whether too many of the first taken bytes of the page belong to records that the node no longer
// has.
func (n *node) wasteful(taken int) bool {
	live := int(n.live)
	return taken-live > live/2+deadBytes
}

// A pieces lists the contents of a new page in order: entries of a node, perhaps a record, and entries of other
// nodes.
type pieces struct {
	left  span
	added *record // may be nil
	right span
	more  []span

	slab *slab // the slab to cut the page from, or nil to allocate the page
}

// A span is the entries of a node from index from up to index to.
type span struct {
	n        *node
	from, to int
}

func (s span) len() int { return s.to - s.from }

func (p *pieces) len() int {
	n := p.left.len() + p.right.len()
	if p.added != nil {
		n++
	}
	for _, s := range p.more {
		n += s.len()
	}
	return n
}

// find returns the node and the index of the entry that is piece i. For the added record, the node is nil.
func (p *pieces) find(i int) (n *node, at int) {
	left := p.left.len()
	if i < left {
		return p.left.n, p.left.from + i
	}
	if i -= left; p.added != nil {
		if i == 0 {
			return nil, 0
		}
		i--
	}
	s := p.right
	for _, next := range p.more {
		if i < s.len() {
			break
		}
		i -= s.len()
		s = next
	}
	return s.n, s.from + i
}

func (p *pieces) record(i int) record {
	n, at := p.find(i)
	if n == nil {
		return *p.added
	}
	return n.record(at)
}

// pack gives n a new page with the pieces, in their order, and spare free bytes. Nothing is appended to a page
// without free space, so such a page needs no counter. The first entry of an inner node has no key. The pieces may be
// entries of n itself. pack does not set the children of n.
func (n *node) pack(p pieces, spare int) {
	old := *n
	if p.left.n == n {
		p.left.n = &old
	}
	if p.right.n == n {
		p.right.n = &old
	}
	total, first := p.len(), n.first()
	n.n, n.len, n.base, n.original, n.head = uint8(total), 0, 0, 0, headOfOne
	n.page, n.taken, n.live, n.used, n.overflowBits, n.overflows = nil, nil, 0, 0, 0, nil
	if first >= total {
		return
	}

	original := n.choose(&p, first)
	size, count := int(n.base)+len(original), 0
	for i := first; i < total; i++ {
		from, at := p.find(i)
		if from != nil && n.sameForm(from) {
			size += from.size(at)
			count += int(from.overflowBits >> uint(at) & 1)
			continue
		}
		r := p.record(i)
		more, _ := n.sizeOf(&r)
		size += more
		if r.hasOverflow() {
			count++
		}
	}

	switch {
	case p.slab != nil:
		n.page = p.slab.page(size)
	case spare == 0:
		n.page = make([]byte, size)
	default:
		n.page, n.taken = newPage(size, spare), new(atomic.Uint32)
		n.taken.Store(uint32(size))
	}
	n.live, n.used = uint16(size), uint16(size)
	if count > 0 {
		n.overflows = make([]overflow, 0, count+overflowStep/2)
	}
	taken := copy(n.page, n.prefix[:n.base])
	taken += copy(n.page[taken:], original)
	for i := first; i < total; i++ {
		n.offsets[i] = uint16(taken)
		from, at := p.find(i)
		if from == nil || !n.sameForm(from) {
			r := p.record(i)
			if size, in := n.sizeOf(&r); size > 0 {
				n.write(n.page[taken:taken+size], &r, in)
				taken += size
			} else {
				n.offsets[i] = 0
			}
			if r.hasOverflow() {
				n.overflows = append(n.overflows, r.overflow())
				n.overflowBits |= 1 << uint(i)
			}
			n.heads[i] = n.headAt(i)
			continue
		}

		if size := from.size(at); size > 0 {
			taken += copy(n.page[taken:], from.page[from.offsets[at]:][:size])
		} else {
			n.offsets[i] = 0
		}
		if from.hasOverflow(at) {
			n.overflows = append(n.overflows, *from.overflow(at))
			n.overflowBits |= 1 << uint(i)
		}
		if n.len == from.len {
			n.heads[i] = from.heads[at]
		} else {
			n.heads[i] = n.headAt(i)
		}
	}
}

// sameForm reports whether records of from can be copied to the page of n unchanged.
func (n *node) sameForm(from *node) bool {
	return n.base == from.base && n.head == from.head
}

// choose sets the prefix and the base of n for the pieces. It returns the partition to write after the base, if any.
func (n *node) choose(p *pieces, first int) (original []byte) {
	var buf [2][longestPacked]byte
	lo, hi := p.record(first), p.record(p.len()-1)
	a, b := lo.appendKey(buf[0][:0]), hi.appendKey(buf[1][:0])

	// Keys are sorted, so all of them share the common prefix of the first and the last.
	common := copy(n.prefix[:], a[:common(a, b)])
	n.len = uint8(common)
	switch {
	case n.kids != nil:
		n.base = n.len
	case lo.sort <= common:
		n.base, n.original = uint8(lo.sort), uint8(len(lo.partition))
		return lo.partition
	default:
		n.base, n.head = uint8(min(common, partitionAt)), headOfSeveral
	}
	return nil
}
