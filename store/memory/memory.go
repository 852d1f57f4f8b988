package memory

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/sortkey/sortkey/store"
)

// engine is a store in memory. Its rows are in a tree for each group of spaces, so that Updates
// of different groups run side by side; all of the trees are published together.
type engine struct {
	current atomic.Pointer[version]             // nil after Close
	groups  [store.Groups]atomic.Pointer[group] // nil before the first Update of it

	waiting sync.Mutex // guards which turns writers wait for

	publishing sync.Mutex // guards the change of current by Updates, and retired
	retired    retired

	owners *atomic.Uint64 // the last owner of nodes, shared with all forks
	shared atomic.Uint64  // nodes of owners up to this one may be shared with forks
}

// A group is what Updates of one group of spaces need.
type group struct {
	turn   turn
	holder atomic.Pointer[writer] // which has the turn
	nodes  nodes                  // of the holder
}

// A version is the published trees.
type version struct {
	roots   [store.Groups]*node // nil for an empty tree
	rows    int
	number  uint64       // the versions of a store are numbered in their order
	readers atomic.Int64 // Views and Forks that hold it
}

// tree returns the tree with the rows of a space.
func (v *version) tree(space store.Space) tree { return tree{root: v.roots[groupOf(space)]} }

func groupOf(space store.Space) int { return int(space % store.Groups) }

// group returns what Updates of a group need.
func (s *engine) group(g int) *group {
	if found := s.groups[g].Load(); found != nil {
		return found
	}
	s.groups[g].CompareAndSwap(nil, new(group))
	return s.groups[g].Load()
}

var (
	_ store.Forker = (*engine)(nil)
	_ store.Getter = (*engine)(nil)
)

// Open returns a new, empty store. It is safe for concurrent use. Its Fork
// takes a short, constant time, does not wait for updates and omits those still
// running. A fork shares rows with its origin until they change.
func Open() store.Forker { return open(new(version), new(atomic.Uint64)) }

// open returns a store with the rows of a version.
func open(v *version, owners *atomic.Uint64) *engine {
	s := &engine{owners: owners}
	s.current.Store(v)
	return s
}

// hold returns the current version, or nil after Close. Its nodes do not change
// until it is released.
func (s *engine) hold() *version {
	for {
		v := s.current.Load()
		if v == nil {
			return nil
		}
		v.readers.Add(1)
		if s.current.Load() == v {
			return v
		}
		v.release() // an Update has published meanwhile and may have missed this reader
	}
}

func (v *version) release() {
	if v != nil {
		v.readers.Add(-1)
	}
}

// Fork implements [store.Forker].
func (s *engine) Fork() (store.Store, error) {
	v := s.hold()
	if v == nil {
		return nil, store.ErrClosed
	}
	defer v.release()
	f := open(&version{roots: v.roots, rows: v.rows}, s.owners)
	last := s.owners.Load()
	f.shared.Store(last)
	for old := s.shared.Load(); old < last && !s.shared.CompareAndSwap(old, last); {
		old = s.shared.Load()
	}
	return f, nil
}

// ForksInstantly implements [store.Forker]: a fork is another root of the same tree.
func (s *engine) ForksInstantly() bool { return true }

// Len returns the number of rows in all spaces, 0 after Close.
func (s *engine) Len() int {
	v := s.current.Load()
	if v == nil {
		return 0
	}
	return v.rows
}

// Get implements [store.Getter].
func (s *engine) Get(
	ctx context.Context, space store.Space, partition, sort []byte,
) (value []byte, ok bool, err error) {
	v := s.hold()
	if v == nil {
		return nil, false, store.ErrClosed
	}
	defer v.release()
	if ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	}
	t := v.tree(space)
	value, ok = t.value(space, partition, sort)
	return value, ok, nil
}

// View implements [store.Store].
func (s *engine) View(ctx context.Context, fn func(store.Reader) error) error {
	v := s.hold()
	if v == nil {
		return store.ErrClosed
	}
	r := &reader{ctx: ctx, version: v}
	defer r.end()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fn(r)
}

// Update implements [store.Store]. An Update has the turns of the groups of spaces that it reads or
// writes, each from the first time on, until it has published its changes. So Updates of different
// groups run side by side, and those that share a group run one after the other. A waiting Update
// returns early if ctx ends. Of Updates that wait for each other, one gives back its turns and calls
// fn again.
func (s *engine) Update(ctx context.Context, fn func(store.Writer) error) error {
	var groups groupSet
	for {
		w := newWriter(ctx, s)
		err := w.update(groups, fn)
		if w.needed == 0 {
			return err
		}
		groups |= w.needed
	}
}

// publish makes the trees that a writer has changed part of a new version.
func (s *engine) publish(w *writer) error {
	next := new(version)
	s.publishing.Lock()
	old := s.current.Load()
	if old == nil {
		s.publishing.Unlock()
		return store.ErrClosed
	}
	next.roots, next.rows, next.number = old.roots, old.rows+w.rows, old.number+1
	for _, p := range w.parts {
		if p.changed {
			next.roots[p.number] = p.root
		}
	}
	if !s.current.CompareAndSwap(old, next) {
		s.publishing.Unlock()
		return store.ErrClosed
	}

	oldest := s.retired.oldest(old)
	unread := old.number < oldest && len(s.retired.waiting) == 0
	if !unread {
		for _, p := range w.parts {
			if p.changed {
				s.retired.queue(&p.nodes, old.number, oldest, s.shared.Load)
			}
		}
	}
	s.publishing.Unlock()

	if unread { // as usual
		for _, p := range w.parts {
			if p.changed {
				p.nodes.free(p.nodes.replaced, s.shared.Load())
				p.nodes.forget()
			}
		}
	}
	return nil
}

// Close implements [store.Store]. Running Views continue; a running Update
// fails with [store.ErrClosed]. The rows become garbage.
func (s *engine) Close() error {
	s.current.Store(nil)
	return nil
}
