package memory

import (
	"bytes"
	"context"

	"github.com/sortkey/sortkey/store"
)

const (
	// leavesTogether is how many leaves a compaction allocates as one array. Leaves allocated one by one would lie
	// between older leaves, which leave holes in the heap when they are freed. One leaf that is still in use keeps
	// its whole array in memory.
	leavesTogether = 8

	// nodesPerUpdate is how many inner nodes a compaction looks at in one Update. It rewrites at most one of them.
	nodesPerUpdate = 256

	// leafBytes is the memory of a leaf without its page.
	leafBytes = 768
)

// Compact puts the rows into less memory. It takes some tenths of a microsecond for each row that was put since the
// last time, and readers see no change. Call it when many rows were put and few will be soon.
//
// After a change, the leaf and its page have free space for the next change. A page that was replaced by a larger one
// leaves a hole in the heap, which only pages of its size can fill. Compact gives the rows full leaves, or leaves
// of one partition where that saves memory, and pages without free space. It cuts the pages from slabs and the leaves
// from arrays. It holds the write lock for one inner node at a time, about a thousand rows, so that updates can run
// between them.
//
// Compact skips nodes that are compact already, and nodes that a fork may share: all that existed at the last Fork,
// even if that fork is closed. It stops early when ctx ends. Like an Update, it must not be called inside an Update.
func (s *engine) Compact(ctx context.Context) error {
	if s.current.Load() == nil {
		return store.ErrClosed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for c := (&compaction{}); !c.done; {
		if err := s.Update(ctx, func(w store.Writer) error { return c.step(w.(*writer)) }); err != nil {
			return err
		}
	}
	return nil
}

// A compaction is the progress of Compact in one tree.
type compaction struct {
	next []byte // the rows before this address are done
	done bool
	slab slab // for the new pages
}

// A slab is a large slice of bytes from which pages are cut. The garbage collector frees a slab as a whole, so one
// page that is still in use keeps all of it in memory.
type slab struct {
	free []byte // the rest of the current slab
	need int    // bytes of the pages that the current step still has to make
}

const slabSize = 64 << 10 // bytes of the largest slab

// step rewrites the next inner node that is worth rewriting. If find looks at many nodes without finding one, step
// does nothing.
func (c *compaction) step(w *writer) error {
	at, found := c.find(w.tree, w.store.shared.Load())
	if !found {
		return nil
	}
	e, err := w.edit()
	if err != nil {
		return err
	}
	e.root = e.compact(e.root, at, c)
	e.lower()
	return nil
}

// find searches from c.next on for the next inner node that is worth rewriting, and returns an address that its
// leaves cover.
func (c *compaction) find(t tree, shared uint64) (at []byte, found bool) {
	if t.root == nil || t.root.kids == nil { // one leaf is not worth it
		c.done = true
		return nil, false
	}
	for range nodesPerUpdate {
		at, parent := c.next, t.root
		c.done = true
		for parent.kids[0].kids != nil {
			i := parent.child(at)
			if i+1 < int(parent.n) {
				after := parent.record(i + 1)
				c.next, c.done = after.appendKey(nil), false
			}
			parent = parent.kids[i]
		}
		if parent.loose(shared) {
			return at, true
		}
		if c.done {
			break
		}
	}
	return nil, false
}

// loose reports whether an inner node is worth rewriting: more than an eighth of its leaves have free space or dead
// bytes. A fork may share leaves whose owner is at most shared. For a node with such a leaf, loose returns false.
func (n *node) loose(shared uint64) bool {
	loose := 0
	for _, leaf := range n.kids[:n.n] {
		if leaf.owner <= shared {
			return false
		}
		if leaf.taken != nil || int(leaf.live) < len(leaf.page) {
			loose++
		}
	}
	return loose > int(n.n)/8
}

// compact rewrites the inner node above the leaf that covers key, and returns the node that replaces n.
func (e *edit) compact(n *node, key []byte, c *compaction) *node {
	if n.kids[0].kids == nil {
		return e.rewrite(n, c)
	}
	n = e.own(n)
	i := n.child(key)
	n.kids[i] = e.compact(n.kids[i], key, c)
	return n
}

// rewrite returns a copy of an inner node in which the leaves are full or of one partition, and their pages are cut
// from slabs.
func (e *edit) rewrite(old *node, c *compaction) *node {
	rows := 0
	c.slab.need = 0
	for _, leaf := range old.kids[:old.n] {
		rows += int(leaf.n)
		c.slab.need += int(leaf.live)
	}

	n := e.nodes.like(old, e.owner)
	var free []node
	var before record
	kid, from := 0, 0 // the next row to copy is entry from of child kid
	ends, begin := old.ends(rows), 0
	for i, end := range ends {
		p := pieces{slab: &c.slab}
		for want := end - begin; want > 0; {
			take := span{old.kids[kid], from, min(int(old.kids[kid].n), from+want)}
			p.more = append(p.more, take)
			want -= take.len()
			if from = take.to; from == int(take.n.n) {
				kid, from = kid+1, 0
			}
		}
		begin = end
		if len(free) == 0 {
			free = make([]node, min(len(ends)-i, leavesTogether))
		}
		leaf := &free[0]
		free = free[1:]
		leaf.owner, leaf.last = e.owner, none
		leaf.pack(p, 0)

		if first := leaf.record(0); i == 0 {
			n.kids[0], n.n = leaf, 1
		} else {
			n.insert(i, entry{&record{rest: separator(&before, &first)}, leaf})
		}
		before = leaf.record(int(leaf.n) - 1)
	}

	for _, leaf := range old.kids[:old.n] {
		e.nodes.retire(leaf)
	}
	e.nodes.retire(old)
	return n
}

// ends returns where the new leaves of an inner node end, in rows from its first. A partition gets leaves of its own if
// their pages save more than an extra leaf takes.
func (n *node) ends(rows int) (ends []int) {
	divide := func(from, to int) {
		leaves := (to - from + fan - 1) / fan
		for i := range leaves {
			ends = append(ends, from+(to-from)*(i+1)/leaves)
		}
	}
	from, begin, at := 0, 0, 0 // row from is not divided yet; the partition of row at begins at row begin
	var before record          // the first of the partition
	end := func() {
		if at-begin >= fan/4 && (at-begin)*before.saving() > leafBytes {
			divide(from, begin)
			divide(begin, at)
			from = at
		}
		begin = at
	}

	for _, leaf := range n.kids[:n.n] {
		for i := range int(leaf.n) {
			if !leaf.in(i, &before) {
				end()
				before = leaf.record(i)
			}
			at++
		}
	}
	end()
	divide(from, at)
	if len(ends) > fan { // the inner node has no space for so many
		ends = nil
		divide(0, rows)
	}
	return ends
}

// saving returns how many bytes less a row takes in a page of its partition alone: that page does not repeat the
// partition, nor a sort position that the value contains.
func (r *record) saving() int {
	if r.sort > prefixMax || r.isLong() {
		return 0
	}
	sort := r.rest[r.sort-len(r.base):]
	if len(r.value) > mostPacked || !bytes.Contains(r.value, sort) {
		sort = nil
	}
	return r.sort - partitionAt + len(sort)
}

// page returns a page of size bytes. It cuts it from the slab, unless size is so large that the slab would waste
// much.
func (s *slab) page(size int) []byte {
	if size > slabSize/8 {
		return make([]byte, size)
	}
	if size > len(s.free) {
		s.free = make([]byte, max(size, min(s.need, slabSize)))
	}
	page := s.free[:size:size]
	s.free = s.free[size:]
	s.need -= size
	return page
}
