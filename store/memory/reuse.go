package memory

// nodes allocates and recycles the nodes of Updates. Only the Update that holds the write lock uses it.
//
// An Update replaces nodes by changed copies. Once nobody reads a version that the replaced nodes belong to (see
// [history]), later copies reuse their memory. Without this, a store under constant writes would produce several
// kilobytes of garbage per row.
type nodes struct {
	leaves, overflowing, inners []*node // free nodes; overflowing has the leaves with memory for overflows

	replaced  []*node // by the running Update
	published uint64  // the owner of the newest nodes in the version that the Update began with
}

// maxFree is how many free nodes of a kind are kept. Others go to the garbage collector.
const maxFree = 1 << 8

// begin begins an Update of a version.
func (ns *nodes) begin(v *version) {
	ns.forget() // a failed Update did not really replace its nodes
	ns.published = v.owner
}

// retire records that the running Update has replaced n. It ignores nodes that this Update itself has made, because a
// loop of the Update over rows may still read them, even after the Update. The garbage collector frees those.
func (ns *nodes) retire(n *node) {
	if ns != nil && n.owner <= ns.published && len(ns.replaced) < maxRetired {
		ns.replaced = append(ns.replaced, n)
	}
}

// forget drops the nodes that the Update replaced.
func (ns *nodes) forget() {
	clear(ns.replaced)
	ns.replaced = ns.replaced[:0]
}

// recycle keeps a cleared node for reuse.
func (ns *nodes) recycle(n *node) {
	if spare := ns.spare(n); len(*spare) < maxFree {
		*spare = append(*spare, n)
	}
}

// spare returns the list of free nodes of the same kind as n.
func (ns *nodes) spare(n *node) *[]*node {
	switch {
	case n.kids != nil:
		return &ns.inners
	case cap(n.overflows) > 0:
		return &ns.overflowing
	}
	return &ns.leaves
}

// clear removes the references in a node that nobody reads. The node itself may stay in memory, in an array with
// nodes that are in use. If the node's owner is at most shared, a fork may have the node: then clear does nothing and
// returns false.
func (n *node) clear(shared uint64) bool {
	if n.owner <= shared {
		return false
	}
	n.page, n.taken = nil, nil // not reused, because readers may keep bytes of the page
	clear(n.overflows)
	n.overflows = n.overflows[:0]
	if n.kids != nil {
		clear(n.kids[:n.n])
	}
	return true
}

// like returns an empty node of the same kind as n.
func (ns *nodes) like(n *node, owner uint64) *node {
	if ns != nil {
		if spare := ns.spare(n); len(*spare) > 0 {
			last := len(*spare) - 1
			n := (*spare)[last]
			(*spare)[last] = nil
			*spare = (*spare)[:last]
			n.owner, n.n, n.len, n.live, n.used, n.overflowBits, n.run = owner, 0, 0, 0, 0, 0, 0
			return n
		}
	}
	if n.kids == nil {
		return newLeaf(owner)
	}
	return newInner(owner)
}
