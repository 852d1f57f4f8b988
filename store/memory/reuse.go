package memory

import "slices"

// A nodes is where the nodes of one store come from and go to. Only the Update
// that runs uses it.
//
// An Update leaves behind the nodes it made copies of. When no View reads the
// version they belong to any more, nor one before it, the next copies are made
// in their memory: a store that is written all the time would otherwise make
// garbage of several kilobytes for each row.
type nodes struct {
	leaves, inners []*node // free

	left    []*node   // by the Update that runs
	waiting []leaving // of the updates before, in order
	many    int       // nodes waiting
}

// leaving are the nodes that are in a version and not in the one after it.
type leaving struct {
	version *version
	nodes   []*node
}

// Bounds of what is kept: with a View that runs for long, or a large Update,
// nodes are left to the garbage collector.
const (
	maxWaiting = 1 << 12
	maxFree    = 1 << 8
)

// leave notes that the Update that runs has no use for n.
func (ns *nodes) leave(n *node) {
	if ns != nil && len(ns.left) < maxWaiting {
		ns.left = append(ns.left, n)
	}
}

// forget drops what the Update left.
func (ns *nodes) forget() {
	clear(ns.left)
	ns.left = ns.left[:0]
}

// publish takes over what the Update left, which goes with version v. That is no
// longer current, so nobody begins to read it. Nodes up to the owner that shared
// returns are in forks too; they are left to the garbage collector.
func (ns *nodes) publish(v *version, shared func() uint64) {
	done := 0
	for ; done < len(ns.waiting) && ns.waiting[done].version.readers.Load() == 0; done++ {
		ns.many -= len(ns.waiting[done].nodes)
		ns.free(ns.waiting[done].nodes, shared())
	}
	if done > 0 {
		ns.waiting = slices.Delete(ns.waiting, 0, done)
	}
	switch unread := v.readers.Load() == 0; {
	case unread && len(ns.waiting) == 0:
		ns.free(ns.left, shared())
	case ns.many+len(ns.left) <= maxWaiting:
		ns.waiting = append(ns.waiting, leaving{v, slices.Clone(ns.left)})
		ns.many += len(ns.left)
	case !unread: // what is left later waits for its readers too
		ns.waiting = append(ns.waiting[:ns.needed()], leaving{version: v})
	}
	ns.forget()
}

// needed returns how many of those waiting there is a reason for: not for the
// last of them when they have no nodes and their readers are gone. There would
// be ever more of these while one View runs for long and others come and go,
// each with a whole version.
func (ns *nodes) needed() int {
	n := len(ns.waiting)
	for n > 0 && ns.waiting[n-1].nodes == nil && ns.waiting[n-1].version.readers.Load() == 0 {
		n--
		ns.waiting[n] = leaving{}
	}
	return n
}

// free keeps the nodes of owners above shared for later. Forks hold a version
// while they say what they share, so shared must have been looked at after the
// version's readers.
func (ns *nodes) free(left []*node, shared uint64) {
	for _, n := range left {
		list := &ns.leaves
		if n.kids != nil {
			list = &ns.inners
		}
		if n.owner <= shared || len(*list) == maxFree {
			continue
		}
		clear(n.recs[:n.n])
		if n.kids != nil {
			clear(n.kids[:n.n])
		}
		*list = append(*list, n)
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

// like returns an empty node of the kind that n is.
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
	n.owner, n.n, n.len = owner, 0, 0
	return n
}
