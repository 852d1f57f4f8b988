package memory

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A version is a published tree.
type version struct {
	tree
	owner uint64 // the newest owner of its nodes
	store *engine

	readers  atomic.Int64 // Views, Forks and loops that hold it
	replaced atomic.Bool  // a newer version is current

	retired []*node // replaced nodes that this version has; guarded by history.mu
}

// release undoes one [engine.hold]. The nodes of an old version become free when nobody holds it any more.
func (v *version) release() {
	if v != nil && v.readers.Add(-1) == 0 && v.replaced.Load() {
		v.store.history.sweep(&v.store.shared)
	}
}

// sees reports whether n, a node of a later version, is in v too.
func (v *version) sees(n *node) bool { return n.owner <= v.owner }

// A history holds the versions before the current one that still have readers, and finds nodes that nobody reads.
//
// A node is in all versions from the one that its owner published to the one before the Update that replaced the node
// by a changed copy. The history gives a replaced node to the newest held version that has the node. If there is
// none, the node is free. When the last reader of a version leaves, its nodes go to the next older version that has
// them. So a long View keeps the nodes that it can read and no others.
type history struct {
	mu      sync.Mutex
	held    []*version // oldest first
	retired int        // number of nodes in the field retired of all held versions
	free    []*node    // for the next Update
}

// maxRetired is how many nodes a history keeps for reuse. With a long View or a large Update there can be more; those
// go to the garbage collector.
const maxRetired = 1 << 12

// add adds v, which has just been replaced as the current version. ns has the nodes that the new version replaced by
// changed copies. No new reader can begin on v.
func (h *history) add(v *version, ns *nodes) {
	v.replaced.Store(true) // set before the readers are counted, because the last reader to leave looks at it
	h.mu.Lock()
	defer h.mu.Unlock()
	if v.readers.Load() > 0 {
		h.held = append(h.held, v)
	}
	shared := v.store.shared.Load()
	for _, n := range ns.replaced {
		if !h.retire(n, len(h.held)) && n.clear(shared) {
			ns.recycle(n)
		}
	}
	ns.forget()

	for _, n := range h.free {
		ns.recycle(n)
	}
	h.free = nil
}

// retire gives a replaced node to held[versions-1], the newest of the first versions in held, if that version has the
// node. Otherwise no older version has the node either, and retire returns false.
func (h *history) retire(n *node, versions int) bool {
	if versions == 0 || !h.held[versions-1].sees(n) {
		return false
	}
	if h.retired < maxRetired {
		h.retired++
		v := h.held[versions-1]
		v.retired = append(v.retired, n)
	}
	return true
}

// sweep removes the versions that nobody reads. Fork holds its version until it has raised shared, so sweep does not
// free nodes of the fork.
func (h *history) sweep(shared *atomic.Uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := len(h.held) - 1; i >= 0; i-- {
		v := h.held[i]
		if v.readers.Load() > 0 {
			continue
		}
		h.held = slices.Delete(h.held, i, i+1)
		h.retired -= len(v.retired)
		for _, n := range v.retired {
			if !h.retire(n, i) && n.clear(shared.Load()) && len(h.free) < maxFree {
				h.free = append(h.free, n)
			}
		}
		v.retired = nil
	}
}

// forget drops all versions.
func (h *history) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held, h.free, h.retired = nil, nil, 0
}
