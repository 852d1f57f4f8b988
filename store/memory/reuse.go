package memory

import "slices"

// nodes allocates and recycles the nodes of one group. Only the Update that has its
// turn uses it.
//
// An Update replaces nodes by changed copies. Once no View reads the version
// that the replaced nodes belong to, nor any version before it, later copies
// reuse their memory. Without this, a store under constant writes would produce
// several kilobytes of garbage per row.
type nodes struct {
	leaves, inners []*node // free

	replaced []*node // by the running Update
}

// retired holds what a store needs to know when nobody reads a node any more. The lock for publishing
// guards it.
type retired struct {
	held    []*version     // versions before the current one that had readers, oldest first
	waiting []retiredNodes // of previous Updates, oldest first
	nodes   int            // in waiting
}

// retiredNodes are the nodes that are in a version, by its number, but not in the next one.
type retiredNodes struct {
	version uint64
	nodes   []*node
}

// Limits of the memory kept. Beyond them, as with a long View or a large
// Update, nodes go to the garbage collector.
const (
	maxWaiting = 1 << 12
	maxFree    = 1 << 8
)

// retire records that the running Update has replaced n.
func (ns *nodes) retire(n *node) {
	if ns != nil && len(ns.replaced) < maxWaiting {
		ns.replaced = append(ns.replaced, n)
	}
}

// forget drops the nodes that the Update replaced.
func (ns *nodes) forget() {
	clear(ns.replaced)
	ns.replaced = ns.replaced[:0]
}

// oldest returns the number of the oldest version that somebody reads or may read, once v is no longer current, so
// that no new reader can start on it.
func (r *retired) oldest(v *version) uint64 {
	unread := func(h *version) bool { return h.readers.Load() == 0 }
	if len(r.held) > 0 && unread(r.held[0]) {
		r.held = slices.DeleteFunc(r.held, unread)
	}
	if !unread(v) {
		if len(r.held) == cap(r.held) { // while one View runs for long, others come and go
			r.held = slices.DeleteFunc(r.held, unread)
		}
		r.held = append(r.held, v)
	}
	if len(r.held) > 0 {
		return r.held[0].number
	}
	return v.number + 1
}

// queue queues the nodes that the Updates of ns have replaced. They belong to the version before and perhaps to older
// ones. Those of other Updates that belong to none from oldest on become free nodes of ns.
func (r *retired) queue(ns *nodes, before, oldest uint64, shared func() uint64) {
	done := 0
	for ; done < len(r.waiting) && r.waiting[done].version < oldest; done++ {
		r.nodes -= len(r.waiting[done].nodes)
		ns.free(r.waiting[done].nodes, shared())
	}
	if done > 0 {
		r.waiting = slices.Delete(r.waiting, 0, done)
	}
	switch n := len(ns.replaced); {
	case before < oldest:
		ns.free(ns.replaced, shared())
	case n > 0 && r.nodes+n <= maxWaiting:
		r.waiting = append(r.waiting, retiredNodes{before, slices.Clone(ns.replaced)})
		r.nodes += n
	}
	ns.forget()
}

// free keeps the nodes of owners above shared for reuse; those of owners up to it are also in forks, and go to the
// garbage collector. A fork holds a version
// while it raises shared, so the caller must read shared after it has found the
// version without readers.
func (ns *nodes) free(list []*node, shared uint64) {
	for _, n := range list {
		spare := &ns.leaves
		if n.kids != nil {
			spare = &ns.inners
		}
		if n.owner <= shared {
			continue
		}
		// A node that is not used again may be in an array with others, so it must not keep anything either.
		n.page, n.taken = nil, nil // readers may have bytes of it, so it is not reused
		clear(n.away)
		n.away = n.away[:0]
		if n.kids != nil {
			clear(n.kids[:n.n])
		}
		if len(*spare) < maxFree {
			*spare = append(*spare, n)
		}
	}
}

// leaf returns an empty leaf.
func (ns *nodes) leaf(owner uint64) *node {
	if ns == nil || len(ns.leaves) == 0 {
		return newLeaf(owner)
	}
	return take(&ns.leaves, owner)
}

// inner returns an inner node without entries.
func (ns *nodes) inner(owner uint64) *node {
	if ns == nil || len(ns.inners) == 0 {
		return newInner(owner)
	}
	return take(&ns.inners, owner)
}

// like returns an empty node of the same kind as n.
func (ns *nodes) like(n *node, owner uint64) *node {
	if n.kids == nil {
		return ns.leaf(owner)
	}
	return ns.inner(owner)
}

func take(list *[]*node, owner uint64) *node {
	last := len(*list) - 1
	n := (*list)[last]
	(*list)[last] = nil
	*list = (*list)[:last]
	n.owner, n.n, n.len, n.live, n.used, n.aparts, n.run = owner, 0, 0, 0, 0, 0, 0
	return n
}
