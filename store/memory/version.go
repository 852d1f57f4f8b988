package memory

import (
	"slices"
	"sync"
	"sync/atomic"
)

// A version is a published tree.
type version struct {
	tree
	owner uint64 // the last one of its nodes
	store *engine

	readers  atomic.Int64 // Views, Forks and loops that hold it
	replaced atomic.Bool  // it is not the current one any more

	retired []*node // as history says; under its lock
}

// release undoes one [engine.hold]. When nobody holds a version that is not current, its nodes are free.
func (v *version) release() {
	if v != nil && v.readers.Add(-1) == 0 && v.replaced.Load() {
		v.store.history.sweep(&v.store.shared)
	}
}

// sees reports whether a node of a later version is in v too.
func (v *version) sees(n *node) bool { return n.owner <= v.owner }

// A history is the versions before the current one that still have readers.
//
// It knows which nodes nobody reads any more. A node is in all versions from the one that its owner has published up
// to the one whose successor has a changed copy of it. From then on the node belongs to the newest held version that
// it is in, or is free if there is none. When the last reader of a version leaves, its nodes go to
// the next older one that sees them. So a long View keeps what it can read and nothing else.
type history struct {
	mu      sync.Mutex
	held    []*version // oldest first
	retired int        // nodes of all held versions
	free    []*node    // for the next Update
}

// maxRetired is how many nodes a history keeps for reuse. Beyond that, as with a long View or a large Update, they go
// to the garbage collector.
const maxRetired = 1 << 12

// add adds v, which a new version with changed copies of some of its nodes has just replaced. No new reader can begin
// on v.
func (h *history) add(v *version, ns *nodes) {
	v.replaced.Store(true) // before its readers are counted: the last one of them looks for it
	h.mu.Lock()
	defer h.mu.Unlock()
	if v.readers.Load() > 0 {
		h.held = append(h.held, v)
	}
	shared := v.store.shared.Load()
	for _, n := range ns.replaced {
		if !h.retire(n, len(h.held)) {
			ns.free(n, shared)
		}
	}
	ns.forget()

	for _, n := range h.free {
		ns.recycle(n)
	}
	h.free = nil
}

// retire gives a node to the newest of the first held versions that sees it. It returns false if none does.
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

// sweep removes the versions that nobody reads. A Fork counts as a reader while it raises shared.
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

// forget lets go of all versions.
func (h *history) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.held, h.free, h.retired = nil, nil, 0
}
