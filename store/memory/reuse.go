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

	replaced     []*node        // by the running Update
	waiting      []retiredNodes // of previous Updates, oldest first
	waitingNodes int            // number of nodes in waiting
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

// publish queues the nodes that the Update replaced. They belong to the version before and perhaps to
// older ones. Nobody reads the versions up to unread. Nodes of owners up to shared() are also in forks
// and go to the garbage collector.
func (ns *nodes) publish(before, unread uint64, shared func() uint64) {
	done := 0
	for ; done < len(ns.waiting) && ns.waiting[done].version <= unread; done++ {
		ns.waitingNodes -= len(ns.waiting[done].nodes)
		ns.free(ns.waiting[done].nodes, shared())
	}
	if done > 0 {
		ns.waiting = slices.Delete(ns.waiting, 0, done)
	}
	switch {
	case before <= unread:
		ns.free(ns.replaced, shared())
	case ns.waitingNodes+len(ns.replaced) <= maxWaiting:
		ns.waiting = append(ns.waiting, retiredNodes{before, slices.Clone(ns.replaced)})
		ns.waitingNodes += len(ns.replaced)
	}
	ns.forget()
}

// free keeps the nodes of owners above shared for reuse. A fork holds a version
// while it raises shared, so the caller must read shared after it has found the
// version without readers.
func (ns *nodes) free(list []*node, shared uint64) {
	for _, n := range list {
		spare := &ns.leaves
		if n.kids != nil {
			spare = &ns.inners
		}
		if n.owner <= shared || len(*spare) == maxFree {
			continue
		}
		n.page, n.taken = nil, nil // readers may have bytes of it, so it is not reused
		clear(n.away)
		n.away = n.away[:0]
		if n.kids != nil {
			clear(n.kids[:n.n])
		}
		*spare = append(*spare, n)
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
