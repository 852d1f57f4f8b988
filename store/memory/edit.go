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

// own returns n if the edit may change it, otherwise a copy. The copy has a node structure of its own, some hundred
// bytes, but shares the page of n. Sharing is safe: nodes only ever add records to a page, and each version of a node
// knows its own records.
func (e *edit) own(n *node) *node {
	if n.owner == e.owner {
		return n
	}
	e.nodes.retire(n)
	c := e.nodes.like(n, e.owner)
	c.page, c.taken, c.overflowBits = n.page, n.taken, n.overflowBits
	c.live, c.used, c.base, c.original, c.head = n.live, n.used, n.base, n.original, n.head
	c.n, c.len, c.last, c.run = n.n, n.len, n.last, n.run
	copy(c.prefix[:n.len], n.prefix[:n.len])
	copy(c.heads[:n.n], n.heads[:n.n])
	copy(c.offsets[:n.n], n.offsets[:n.n])
	c.overflows = n.overflowsIn(c.overflows)
	if n.kids != nil {
		copy(c.kids[:n.n], n.kids[:n.n])
	}
	return c
}

// put adds a row, or replaces the one at its address.
func (e *edit) put(row *record) {
	if e.root == nil {
		e.root = newLeaf(e.owner)
	}
	root, right := e.insert(e.root, row)
	if right.kid != nil {
		top := newInner(e.owner)
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

// insert puts a row into the tree below n. The base of the row's record is empty. insert returns the node that
// replaces n. If n was full, insert splits it and also returns the entry to add to the parent after n. If the parent
// is full too, it splits as well, and so on up to put, which then makes a new root.
func (e *edit) insert(n *node, row *record) (*node, entry) {
	n = e.own(n)
	at, found := n.search(row.rest)
	if n.kids == nil {
		if found {
			n.replace(at, row)
			return n, entry{}
		}
		e.rows++
		return n, e.add(n, at, entry{rec: row})
	}
	if !found {
		at--
	}
	kid, right := e.insert(n.kids[at], row)
	n.kids[at] = kid
	if right.kid == nil {
		return n, entry{}
	}
	return n, e.add(n, at+1, right)
}

// add inserts x into n, a node of the edit, as the entry with index at. If n is full, add splits it first, and
// returns the entry to add to the parent after n.
func (e *edit) add(n *node, at int, x entry) entry {
	if n.n < fan {
		n.insert(at, x)
		return entry{}
	}
	right := e.nodes.like(n, e.owner)
	if at != int(n.last)+1 {
		n.run = 0
	}
	if at == fan {
		return n.follow(right, x)
	}

	// If rows were put in order, the left node stays full, even if rows after them exist already. Otherwise each half
	// gets about half of the entries, and free space.
	half, spare := fan/2, someSpare
	if n.run >= fan/2 {
		half, spare = at, int(n.live)*(fan-at)/fan
	} else if n.kids == nil {
		half = n.splitAt()
	}

	// The parent gets the shortest key that is above all keys of the left half, but not above the keys of the right
	// half.
	var up []byte
	before, middle := *x.rec, n.record(half)
	switch {
	case n.kids != nil: // the first entry of the right half will have no key, so its key moves to the parent
		up = middle.appendKey(nil)
	case at == half:
		up = separator(&before, &middle)
	default:
		before = n.record(half - 1)
		up = separator(&before, &middle)
	}

	// Both halves get new pages. The right half is packed first, because packing the left one replaces the page of n.
	if at <= half {
		if n.kids != nil {
			copy(right.kids[:], n.kids[half:])
			copy(n.kids[at+1:], n.kids[at:half])
			n.kids[at] = x.kid
			clear(n.kids[half+1:])
		}
		right.pack(pieces{left: span{n, half, fan}}, someSpare)
		n.pack(pieces{left: span{n, 0, at}, added: x.rec, right: span{n, at, half}}, spare)
		n.last, right.last, right.run = uint8(at), none, 0
	} else {
		if n.kids != nil {
			copy(right.kids[:], n.kids[half:at])
			right.kids[at-half] = x.kid
			copy(right.kids[at-half+1:], n.kids[at:])
			clear(n.kids[half:])
		}
		right.pack(pieces{left: span{n, half, at}, added: x.rec, right: span{n, at, fan}}, someSpare)
		n.pack(pieces{left: span{n, 0, half}}, someSpare)
		right.last, right.run = uint8(at-half), n.run
		n.last, n.run = none, 0
	}
	return entry{&record{rest: up}, right}
}

// splitAt returns the entry that begins the right half of a full leaf: the one closest to the middle that begins a
// partition, or the middle if none is close. A page of one partition need not repeat the keys that are in its values.
func (n *node) splitAt() int {
	for away := range fan / 4 {
		for _, at := range [2]int{fan/2 - away, fan/2 + away} {
			before := n.record(at - 1)
			if !n.in(at, &before) {
				return at
			}
		}
	}
	return fan / 2
}

// in reports whether entry i of a leaf is in the partition of another row.
func (n *node) in(i int, of *record) bool {
	var buf [2][longestPacked]byte
	r := n.record(i)
	a, b := r.appendKey(buf[0][:0]), of.appendKey(buf[1][:0])
	return bytes.Equal(a[:r.sort], b[:of.sort])
}

// follow makes x the first entry of the new node right, and returns the entry to add after n. Rows that are put in
// order will follow x, so right gets a page with space for them.
func (n *node) follow(right *node, x entry) entry {
	up := x.rec.rest
	if n.kids == nil {
		last := n.record(fan - 1)
		up = separator(&last, x.rec)
		spare := int(n.live)
		if n.run < fan/2 { // not in order
			spare /= 4
		}
		right.pack(pieces{added: x.rec}, spare)
	} else {
		right.kids[0], right.n = x.kid, 1
	}
	right.last, right.run = 0, n.run
	if n.taken != nil { // n is full now, so give up the free space in its page
		if len(n.page)-int(n.taken.Load()) > len(n.page)/16 {
			n.pack(pieces{left: span{n, 0, fan}}, 0)
		} else {
			n.page, n.taken = n.page[:n.used:n.used], nil
		}
	}
	return entry{&record{rest: up}, right}
}

// separator returns the shortest key s for which a < s <= b, where a < b.
func separator(a, b *record) []byte {
	var buf [2][longestPacked]byte
	before, after := a.appendKey(buf[0][:0]), b.appendKey(buf[1][:0])
	return bytes.Clone(after[:common(before, after)+1])
}

// insert inserts x into a node that is not full, as the entry with index at. The base of x is empty.
func (n *node) insert(at int, x entry) {
	end := int(n.n)
	if n.kids != nil {
		copy(n.kids[at+1:end+1], n.kids[at:end])
		n.kids[at] = x.kid
	}
	if at != int(n.last)+1 {
		n.run = 0
	} else if n.run < fan {
		n.run++
	}
	n.last = uint8(at)

	// The node stores the common prefix of its keys once. If the new key does not have all of it, the prefix becomes
	// shorter, and every head changes. If the base of the page is longer than the new prefix, the node needs a new
	// page.
	key, shared := x.rec.rest, int(n.len)
	if !bytes.HasPrefix(key, n.prefix[:shared]) {
		shared = common(key, n.prefix[:shared])
	}
	if end <= n.first() || shared < int(n.base) {
		n.pack(pieces{left: span{n, 0, at}, added: x.rec, right: span{n, at, end}}, someSpare)
		return
	}

	offset := n.place(x.rec, fan)
	copy(n.offsets[at+1:end+1], n.offsets[at:end])
	copy(n.heads[at+1:end+1], n.heads[at:end])
	low := uint64(1)<<uint(at) - 1
	n.overflowBits = n.overflowBits&low | n.overflowBits&^low<<1 // insert bit at, and move the bits after it
	n.n++
	n.set(at, offset, x.rec)
	if shared == int(n.len) {
		n.heads[at] = headOf(key, shared)
		return
	}
	n.len = uint8(shared)
	for i := n.first(); i <= end; i++ {
		n.heads[i] = n.headAt(i)
	}
}

// replace gives the entry with index at of a leaf the value of row, which has the same address.
func (n *node) replace(at int, row *record) {
	if n.hasOverflow(at) && row.hasOverflow() { // the key stays where it is
		n.overflow(at).value = row.value
		return
	}
	n.unset(at)
	n.set(at, n.place(row, at), row)
}

// remove removes entry at.
func (n *node) remove(at int) {
	end := int(n.n) - 1
	if n.kids != nil {
		copy(n.kids[at:end], n.kids[at+1:])
		n.kids[end] = nil
		at = max(at, 1) // entry 1 may become entry 0, which has no key
	}
	if at <= end {
		n.unset(at)
		copy(n.offsets[at:end], n.offsets[at+1:])
		copy(n.heads[at:end], n.heads[at+1:])
		low := uint64(1)<<uint(at) - 1
		n.overflowBits = n.overflowBits&low | n.overflowBits>>1&^low
	}
	n.n--
	if n.wasteful(len(n.page)) {
		n.pack(pieces{left: span{n, 0, end}}, someSpare)
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
	e.lower()
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

// merge merges the children of n with the indexes at and at+1.
func (e *edit) merge(n *node, at int) {
	left, right := e.own(n.kids[at]), n.kids[at+1]
	p := pieces{left: span{left, 0, int(left.n)}, right: span{right, 0, int(right.n)}}
	if left.kids != nil {
		copy(left.kids[left.n:], right.kids[:right.n])
		between := n.record(at + 1)
		p.added = &between
		p.right.from = 1
	}
	left.pack(p, someSpare)
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
	e.lower()
}

// lower replaces the root by its child while the root is an inner node with only one child.
func (e *edit) lower() {
	for e.root != nil && e.root.kids != nil && e.root.n == 1 {
		e.root = e.root.kids[0]
	}
}

// cut removes the rows with lo <= address < hi below n. It returns the node that replaces n, or nil if no rows are
// left.
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

	// Children at the ends of the range may keep rows; children between them keep none.
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

// bounds returns the bounds of the entries of n that can have rows with lo <= address < hi. In an inner node that is
// at least one entry.
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

// drop removes the entries from index from up to index to.
func (n *node) drop(from, to int) {
	end := int(n.n)
	if n.kids != nil {
		copy(n.kids[from:], n.kids[to:end])
		clear(n.kids[end-(to-from) : end])
	}
	n.pack(pieces{left: span{n, 0, from}, right: span{n, to, end}}, someSpare)
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
