package memory

import (
	"bytes"
	"encoding/binary"
	"math"
	"sync/atomic"
)

// A tree is one version of the rows: a B+tree ordered by key. It shares nodes with other versions. Once a tree is
// published, its nodes do not change. The zero tree is empty.
type tree struct {
	root *node // nil for an empty tree
	rows int
}

const (
	// fan is the largest number of entries of a node. More entries make the tree flatter. But changing a row copies
	// the nodes above it, and every read searches nodes, so more entries make both more expensive.
	fan = 56
	// prefixMax is the longest common prefix that a node stores. With it, a leaf fills an object of 768 bytes, of
	// which the runtime uses 8.
	prefixMax = 109
	// Two neighbours are merged when one has fewer than fewEntries and both
	// together have at most mostMerged, which leaves space to grow.
	fewEntries = fan / 4
	mostMerged = fan * 3 / 4
	// maxHeight is larger than the height of any tree that fits in memory.
	maxHeight = 20
)

// A node is a leaf, which holds rows, or an inner node. Child i of an inner node holds the rows from the key of entry
// i up to the key of entry i+1. Entry 0 has no key; its child holds all rows before entry 1.
//
// The keys of one partition are long, share a prefix, and are rarely in the processor's cache. So a node stores the
// common prefix of its keys once. Of each key it also stores the head, the eight bytes after the prefix. After
// comparing heads, most searches need to read only one key. The keys and values are in the page.
type node struct {
	kids      *[fan]*node
	page      []byte
	taken     *atomic.Uint32 // bytes of the page that its nodes have taken; nil if no node may add to it
	overflows []overflow     // of the entries that have one, in order

	owner        uint64 // the edit that may change it
	overflowBits uint64 // bit i is set if entry i overflows

	live     uint16 // bytes of the page that belong to its base or to entries of this node
	used     uint16 // end of the last record that this node added; equal to live if all bytes before it are live
	n        uint8
	len      uint8 // length of the prefix
	base     uint8 // length of the base
	original uint8 // length of the partition after the base
	head     uint8 // bytes before a key in the page: headOfOne or headOfSeveral
	last     uint8 // the entry inserted last, or one near it
	run      uint8 // how many entries were inserted in order before last
	prefix   [prefixMax]byte
	heads    [fan]uint64
	offsets  [fan]uint16 // of the records in the page
}

// inner is an inner node together with the array for its children.
type inner struct {
	node
	array [fan]*node
}

func newLeaf(owner uint64) *node { return &node{owner: owner} }

func newInner(owner uint64) *node {
	in := new(inner)
	in.owner, in.kids = owner, &in.array
	return &in.node
}

// first returns the index of the first entry that has a key.
func (n *node) first() int {
	if n.kids == nil {
		return 0
	}
	return 1
}

// headOf returns the eight bytes of key at offset from as a number with the
// same order. Bytes past the end count as zero, so different keys may have
// equal heads.
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
// equal. It returns n.n when all keys are smaller.
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

	// Usually at most one key has this head, and it is the one that search looks for.
	if c := n.compare(lo, key); c >= 0 {
		return lo, c == 0
	}
	// Otherwise several keys of one partition have this head. Then key is usually above all of them.
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

// below returns the first entry, from index from on, whose head is not below head. It moves by one cache line at a
// time, which the processor can prefetch, unlike the steps of a binary search.
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

// compare compares the key of entry i with a key that has the node's prefix.
func (n *node) compare(i int, key []byte) int {
	return bytes.Compare(n.key(i, int(n.len)), key[n.len:])
}

// child returns the index of the child that covers key.
func (n *node) child(key []byte) int {
	i, found := n.search(key)
	if found {
		return i
	}
	return i - 1
}

// find returns the leaf and the entry of a row, if there is one.
func (t *tree) find(key []byte) (leaf *node, i int, found bool) {
	n := t.root
	if n == nil {
		return nil, 0, false
	}
	for n.kids != nil {
		n = n.kids[n.child(key)]
	}
	i, found = n.search(key)
	return n, i, found
}

// A cursor is a leaf and the path to it from the root.
type cursor struct {
	leaf  *node
	depth int
	path  [maxHeight]step
}

type step struct {
	n *node
	i int
}

// seek moves to the leaf that covers key.
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

// next moves to the next leaf, or to the previous one if by is -1. It returns
// false when there is none.
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

// ascend visits the rows with lo <= address < hi, leaf by leaf, until visit
// returns false. A nil hi means no bound.
func (t tree) ascend(lo, hi []byte, visit func(leaf *node, from, to int) bool) {
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
		if from < to && !visit(leaf, from, to) {
			return
		}
		if to < int(leaf.n) || !c.next(+1) {
			return
		}
		from = 0
	}
}

// descend visits the same rows as ascend, but the last leaf first. Within one call of visit the rows are still in
// ascending order.
func (t tree) descend(lo, hi []byte, visit func(leaf *node, from, to int) bool) {
	if t.root == nil {
		return
	}
	var c cursor
	c.seek(t, hi)
	to, _ := c.leaf.search(hi)
	for {
		leaf := c.leaf
		from, _ := leaf.search(lo)
		if from < to && !visit(leaf, from, to) {
			return
		}
		if from > 0 || !c.next(-1) {
			return
		}
		to = int(c.leaf.n)
	}
}
