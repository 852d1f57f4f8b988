package memory

import (
	"context"

	"github.com/sortkey/sortkey/store"
)

const (
	// leavesTogether is how many leaves are allocated together, so that they leave no holes where
	// others were. One keeps the others of its array.
	leavesTogether = 8

	// nodesPerUpdate is how many inner nodes a compaction looks at in one Update. Of those it
	// rewrites one at most.
	nodesPerUpdate = 256
)

// Compact puts the rows into less memory, at some 0.1 µs for each that was put since the last time. It changes nothing
// that anybody can read. It is worth its time when many rows were put and few will be soon.
//
// A change leaves free space in its leaf and in the leaf's page for the next one, and pages that grew leave holes in
// the heap that only pages of their size fill. Compact gives the rows full leaves and pages without free space,
// which are cut from slabs, as the leaves are from arrays. It has the write lock for one inner node at a time,
// some thousand rows, so that updates go on between. It passes over nodes that are compact already, and over those
// that a fork may share, which are all that were there at the last Fork, even if that is closed. It stops early when
// ctx ends. Like an Update, it must not be called in the function of one.
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
	slab slab // for the pages
}

// A slab is bytes from which pages are cut. The garbage collector frees them together, so one page keeps all of them.
type slab struct {
	free []byte // what is left of the last one
	need int    // bytes of the pages that the running step has yet to make
}

const slabSize = 64 << 10 // at most

// step rewrites the next inner node that is worth it, unless it has looked at many before.
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

// find goes on from c.next to the next inner node that is worth rewriting, and returns an address that its leaves
// cover.
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

// loose reports whether more than an eighth of the leaves below an inner node have free space or dead bytes, and
// none is of an owner up to shared.
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

// rewrite returns a copy of an inner node whose leaves are full and have pages of slabs.
func (e *edit) rewrite(old *node, c *compaction) *node {
	rows := 0
	c.slab.need = 0
	for _, leaf := range old.kids[:old.n] {
		rows += int(leaf.n)
		c.slab.need += int(leaf.live)
	}

	n := e.nodes.inner(e.owner)
	var free []node
	var before record
	kid, from := 0, 0 // the next row
	for i, leaves := 0, (rows+fan-1)/fan; i < leaves; i++ {
		p := pieces{slab: &c.slab}
		for want := rows*(i+1)/leaves - rows*i/leaves; want > 0; {
			take := span{old.kids[kid], from, min(int(old.kids[kid].n), from+want)}
			p.more = append(p.more, take)
			want -= take.len()
			if from = take.to; from == int(take.n.n) {
				kid, from = kid+1, 0
			}
		}
		if len(free) == 0 {
			free = make([]node, min(leaves-i, leavesTogether))
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

// page returns size bytes, of a slab if that wastes little of it.
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
