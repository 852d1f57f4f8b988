package memory

import "bytes"

// An edit creates a new version of a tree. It copies each node that it changes
// once and marks the copy as its own. It never changes nodes of other owners,
// which others may read at the same time.
type edit struct {
	*tree
	owner uint64
	nodes *nodes // may be nil
}

// own returns n if the edit may change it, otherwise a copy.
func (e *edit) own(n *node) *node {
	if n.owner == e.owner {
		return n
	}
	e.nodes.retire(n)
	c := e.nodes.like(n, e.owner)
	c.n, c.len, c.prefix = n.n, n.len, n.prefix
	copy(c.heads[:n.n], n.heads[:n.n])
	copy(c.recs[:n.n], n.recs[:n.n])
	if n.kids != nil {
		copy(c.kids, n.kids[:n.n])
	}
	return c
}

// put adds a record, or replaces the one at its address.
func (e *edit) put(rec *record) {
	if e.root == nil {
		e.root = e.nodes.leaf(e.owner)
	}
	root, right := e.insert(e.root, rec)
	if right.kid != nil {
		top := e.nodes.inner(e.owner)
		top.kids[0], top.n = root, 1
		top.insert(1, right)
		root = top
	}
	e.root = root
}

// An entry is one element of a node: a record and, in an inner node, a child.
type entry struct {
	rec *record
	kid *node
}

// insert puts rec into the tree below n. It returns the node that replaces n
// and, when n was full, the entry to add after it.
func (e *edit) insert(n *node, rec *record) (*node, entry) {
	n = e.own(n)
	at, found := n.search(rec.addr())
	if n.kids == nil {
		if found {
			n.recs[at] = rec
			return n, entry{}
		}
		e.rows++
		return n, e.add(n, at, entry{rec: rec})
	}
	if !found {
		at--
	}
	kid, right := e.insert(n.kids[at], rec)
	n.kids[at] = kid
	if right.kid == nil {
		return n, entry{}
	}
	return n, e.add(n, at+1, right)
}

// add inserts x as entry at of n, which belongs to the edit. It splits a full
// node first and then returns the entry to add after it.
func (e *edit) add(n *node, at int, x entry) entry {
	if n.n < fan {
		n.insert(at, x)
		return entry{}
	}
	half := fan / 2
	if at == fan { // rows inserted in order leave full nodes behind
		half = fan - 1
	}
	right, rec := e.split(n, half)
	if bytes.Compare(x.rec.addr(), rec.addr()) < 0 {
		n.insert(at, x)
	} else {
		right.insert(at-half, x)
	}
	return entry{rec, right}
}

// split moves the entries of n starting at from to a new node. It returns the
// new node and a record whose address separates the two.
func (e *edit) split(n *node, from int) (*node, *record) {
	right := e.nodes.like(n, e.owner)
	rec := n.recs[from]
	if n.kids == nil {
		rec = separator(n.recs[from-1].addr(), rec.addr())
	}
	moved := int(n.n) - from
	right.n = uint8(moved)
	copy(right.recs[:], n.recs[from:n.n])
	clear(n.recs[from:n.n])
	if n.kids != nil {
		copy(right.kids, n.kids[from:n.n])
		clear(n.kids[from:n.n])
		right.recs[0] = nil
	}
	n.n = uint8(from)
	n.summarise()
	right.summarise()
	return right, rec
}

// insert inserts x as entry at of a node that is not full.
func (n *node) insert(at int, x entry) {
	end := int(n.n)
	copy(n.recs[at+1:end+1], n.recs[at:end])
	copy(n.heads[at+1:end+1], n.heads[at:end])
	n.recs[at] = x.rec
	if n.kids != nil {
		copy(n.kids[at+1:end+1], n.kids[at:end])
		n.kids[at] = x.kid
	}
	n.n++
	key := x.rec.addr()
	skip := int(n.len)
	if end <= n.first() || len(key) < skip || !bytes.Equal(key[:skip], n.prefix[:skip]) {
		n.summarise()
		return
	}
	n.heads[at] = headOf(key, skip)
}

// remove removes entry at.
func (n *node) remove(at int) {
	end := int(n.n) - 1
	copy(n.recs[at:end], n.recs[at+1:])
	copy(n.heads[at:end], n.heads[at+1:])
	n.recs[end] = nil
	if n.kids != nil {
		copy(n.kids[at:end], n.kids[at+1:])
		n.kids[end] = nil
		n.recs[0] = nil // entry 1 may have become entry 0, which has no key
	}
	n.n--
}

// summarise computes the common prefix of the keys of n and their heads.
func (n *node) summarise() {
	first, end := n.first(), int(n.n)
	n.len = 0
	if first >= end {
		return
	}
	// Keys are sorted, so all of them share the common prefix of the first and
	// the last.
	a, b := n.recs[first].addr(), n.recs[end-1].addr()
	n.len = uint8(copy(n.prefix[:], a[:common(a, b)]))
	for i := first; i < end; i++ {
		n.heads[i] = headOf(n.recs[i].addr(), int(n.len))
	}
}

// common returns the length of the common prefix of a and b.
func common(a, b []byte) int {
	i, end := 0, min(len(a), len(b))
	for i < end && a[i] == b[i] {
		i++
	}
	return i
}

// delete removes the record at an address, which must exist.
func (e *edit) delete(key []byte) {
	e.rows--
	e.root = e.remove(e.root, key)
	for e.root.n == 1 && e.root.kids != nil {
		e.root = e.root.kids[0]
	}
	if e.root.n == 0 {
		e.root = nil
	}
}

func (e *edit) remove(n *node, key []byte) *node {
	n = e.own(n)
	if n.kids == nil {
		at, _ := n.search(key)
		n.remove(at)
		return n
	}
	at := n.child(key)
	kid := e.remove(n.kids[at], key)
	n.kids[at] = kid
	switch {
	case kid.n == 0:
		n.remove(at)
	case kid.n < fewEntries && at > 0 && n.kids[at-1].n+kid.n <= mostMerged:
		e.merge(n, at-1)
	case kid.n < fewEntries && at+1 < int(n.n) && kid.n+n.kids[at+1].n <= mostMerged:
		e.merge(n, at)
	}
	return n
}

// merge merges the children of n at at and at+1.
func (e *edit) merge(n *node, at int) {
	left, right := e.own(n.kids[at]), n.kids[at+1]
	end := int(left.n)
	copy(left.recs[end:], right.recs[:right.n])
	if left.kids != nil {
		copy(left.kids[end:], right.kids[:right.n])
		left.recs[end] = n.recs[at+1]
	}
	left.n += right.n
	left.summarise()
	if right.owner != e.owner {
		e.nodes.retire(right)
	}
	n.kids[at] = left
	n.remove(at + 1)
}

// clear removes the rows with lo <= address < hi; a nil hi means no bound. It changes only the nodes at
// the two ends of the range, and counts the rows in the leaves between them.
func (e *edit) clear(lo, hi []byte) {
	if e.root == nil {
		return
	}
	e.root = e.cut(e.root, lo, hi)
	for e.root != nil && e.root.kids != nil && e.root.n == 1 {
		e.root = e.root.kids[0]
	}
}

// cut returns the node that replaces n, or nil if no rows are left below it.
func (e *edit) cut(n *node, lo, hi []byte) *node {
	from, to := n.bounds(lo, hi)
	if n.kids == nil {
		if from == to {
			return n
		}
		e.rows -= to - from
		if to-from == int(n.n) {
			return nil
		}
		n = e.own(n)
		n.drop(from, to)
		return n
	}

	// The children at the ends of the range may keep rows, those between them do not.
	for _, kid := range n.kids[from+1 : max(to-1, from+1)] {
		e.rows -= kid.count()
	}
	n = e.own(n)
	first := from
	if left := e.cut(n.kids[from], lo, hi); left != nil {
		n.kids[from] = left
		first++
	}
	last := to
	if to-1 > from {
		if right := e.cut(n.kids[to-1], lo, hi); right != nil {
			n.kids[to-1] = right
			last--
		}
	}
	if first < last {
		n.drop(first, last)
	}
	if n.n == 0 {
		return nil
	}
	return n
}

// bounds returns the entries of n that can have rows with lo <= address < hi: of an inner node at least
// one.
func (n *node) bounds(lo, hi []byte) (from, to int) {
	to = int(n.n)
	if hi != nil {
		to, _ = n.search(hi)
	}
	if n.kids == nil {
		from, _ = n.search(lo)
		return from, max(from, to)
	}
	from = n.child(lo)
	return from, max(to, from+1)
}

// drop removes the entries from up to to.
func (n *node) drop(from, to int) {
	end := int(n.n)
	left := end - (to - from)
	copy(n.recs[from:], n.recs[to:end])
	clear(n.recs[left:end])
	if n.kids != nil {
		copy(n.kids[from:], n.kids[to:end])
		clear(n.kids[left:end])
		n.recs[0] = nil // entry 0 has no key
	}
	n.n = uint8(left)
	n.summarise()
}

// count returns the number of rows below n.
func (n *node) count() int {
	if n.kids == nil {
		return int(n.n)
	}
	rows := 0
	for _, kid := range n.kids[:n.n] {
		rows += kid.count()
	}
	return rows
}
