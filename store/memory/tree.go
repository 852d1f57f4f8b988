package memory

import (
	"bytes"
	"encoding/binary"
	"math"
)

// A tree is one version of the rows: a B+tree in the order of their keys. Its
// nodes are shared with other versions and do not change once it is published.
// The zero tree is empty.
type tree struct {
	root *node // nil when there are no rows
	rows int
}

const (
	// fan is the most entries of a node. A node is copied when one row in it
	// changes and searched in every read: more make the tree flatter and the
	// copies dearer.
	fan = 56
	// prefixMax is the most of the bytes its keys begin with that a node keeps.
	// It makes a leaf one kilobyte.
	prefixMax = 64
	// Neighbours become one when one of them has fewer than fewEntries and both
	// together no more than mostMerged, which leaves room to grow again.
	fewEntries = fan / 4
	mostMerged = fan * 3 / 4
	// maxHeight is more levels than memory can hold rows for.
	maxHeight = 20
)

// A node is a leaf, which holds rows, or an inner node. Child i of an inner
// node has the rows from the key of entry i up to that of entry i+1; its entry
// 0 has no key and takes all that lie before entry 1.
//
// Rows of one partition have long keys that begin alike, in memory that is
// rarely at hand. So a node keeps what all of its keys begin with, and of each
// key the eight bytes after that: mostly a search ends without a look at a key.
type node struct {
	owner  uint64 // the edit that may change it
	kids   []*node
	n      uint8
	len    uint8 // of the prefix
	prefix [prefixMax]byte
	heads  [fan]uint64
	recs   [fan]*record
}

// inner is an inner node with the room for its children.
type inner struct {
	node
	room [fan]*node
}

func newLeaf(owner uint64) *node { return &node{owner: owner} }

func newInner(owner uint64) *node {
	in := new(inner)
	in.owner, in.kids = owner, in.room[:]
	return &in.node
}

// first is the first entry that has a key.
func (n *node) first() int {
	if n.kids == nil {
		return 0
	}
	return 1
}

// headOf returns the eight bytes of key from from on, as a number in their
// order. Bytes past the end count as zero, so keys with equal heads may differ.
func headOf(key []byte, from int) uint64 {
	if len(key) >= from+8 {
		return binary.BigEndian.Uint64(key[from:])
	}
	var head [8]byte
	if from < len(key) {
		copy(head[:], key[from:])
	}
	return binary.BigEndian.Uint64(head[:])
}

// search returns the first entry whose key is at least key, and whether it is
// equal. It is n.n when there is none.
func (n *node) search(key []byte) (at int, found bool) {
	skip := int(n.len)
	if c := bytes.Compare(key[:min(len(key), skip)], n.prefix[:skip]); c < 0 {
		return n.first(), false
	} else if c > 0 {
		return int(n.n), false
	}
	head := headOf(key, skip)
	lo := n.below(head, n.first())
	if lo == int(n.n) || n.heads[lo] != head {
		return lo, false
	}
	// Mostly one key has this head, and mostly it is the one.
	if c := n.compare(lo, key); c >= 0 {
		return lo, c == 0
	}
	// Else the keys of one partition share it. What is asked for is then mostly
	// beyond all of them.
	lo++
	hi := n.below(head+1, lo)
	if head == math.MaxUint64 {
		hi = int(n.n)
	}
	if hi > lo && n.compare(hi-1, key) < 0 {
		return hi, false
	}
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		c := n.compare(mid, key)
		if c == 0 {
			return mid, true
		}
		if c < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, false
}

// below returns the first entry from from on whose head is not below head. It
// goes in steps of a cache line, which the processor can fetch ahead, unlike
// those of a binary search.
func (n *node) below(head uint64, from int) int {
	const step = 8
	at, end := from, int(n.n)
	for at+step <= end && n.heads[at+step-1] < head {
		at += step
	}
	for at < end && n.heads[at] < head {
		at++
	}
	return at
}

// compare compares the key of an entry with one that shares the prefix.
func (n *node) compare(i int, key []byte) int {
	return bytes.Compare(n.recs[i].addr()[n.len:], key[n.len:])
}

// child returns which child of an inner node has the place of key.
func (n *node) child(key []byte) int {
	i, found := n.search(key)
	if found {
		return i
	}
	return i - 1
}

// get returns the record at an address, or nil.
func (t *tree) get(key []byte) *record {
	n := t.root
	if n == nil {
		return nil
	}
	for n.kids != nil {
		n = n.kids[n.child(key)]
	}
	if i, found := n.search(key); found {
		return n.recs[i]
	}
	return nil
}

// A cursor is a leaf and the way to it from the root.
type cursor struct {
	leaf  *node
	depth int
	path  [maxHeight]step
}

type step struct {
	n *node
	i int
}

// seek moves to the leaf that has the place of key.
func (c *cursor) seek(t tree, key []byte) {
	c.depth = 0
	n := t.root
	for n.kids != nil {
		i := n.child(key)
		c.path[c.depth] = step{n, i}
		c.depth++
		n = n.kids[i]
	}
	c.leaf = n
}

// next moves to the next leaf, or the one before if by is -1. It reports false
// when there is none.
func (c *cursor) next(by int) bool {
	for d := c.depth - 1; d >= 0; d-- {
		s := &c.path[d]
		if i := s.i + by; i < 0 || i >= int(s.n.n) {
			continue
		}
		s.i += by
		n := s.n.kids[s.i]
		for d++; d < c.depth; d++ {
			i := 0
			if by < 0 {
				i = int(n.n) - 1
			}
			c.path[d] = step{n, i}
			n = n.kids[i]
		}
		c.leaf = n
		return true
	}
	return false
}

// ascend visits the rows with lo <= address < hi, those of one leaf at a time,
// until visit returns false. A nil hi is no bound.
func (t tree) ascend(lo, hi []byte, visit func([]*record) bool) {
	if t.root == nil {
		return
	}
	var c cursor
	c.seek(t, lo)
	from, _ := c.leaf.search(lo)
	for {
		leaf := c.leaf
		to := int(leaf.n)
		if hi != nil {
			to, _ = leaf.search(hi)
		}
		if from < to && !visit(leaf.recs[from:to]) {
			return
		}
		if to < int(leaf.n) || !c.next(+1) {
			return
		}
		from = 0
	}
}

// descend visits the same leaf by leaf from the last on. What it hands out is
// still in ascending order.
func (t tree) descend(lo, hi []byte, visit func([]*record) bool) {
	if t.root == nil {
		return
	}
	var c cursor
	c.seek(t, hi)
	to, _ := c.leaf.search(hi)
	for {
		leaf := c.leaf
		from, _ := leaf.search(lo)
		if from < to && !visit(leaf.recs[from:to]) {
			return
		}
		if from > 0 || !c.next(-1) {
			return
		}
		to = int(c.leaf.n)
	}
}
