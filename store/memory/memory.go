package memory

import (
	"context"
	"sync/atomic"

	"github.com/sortkey/sortkey/store"
)

// engine is a store in memory.
type engine struct {
	current atomic.Pointer[version] // nil after Close

	writer *turn
	nodes  nodes // of the running Update

	owners *atomic.Uint64 // the last owner of nodes, shared with all forks
	shared atomic.Uint64  // nodes of owners up to this one may be shared with forks
}

// A version is a published tree.
type version struct {
	tree
	readers atomic.Int64 // Views, Updates and Forks that hold it
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
	s := &engine{writer: newTurn(), owners: owners}
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

func (v *version) release() { v.readers.Add(-1) }

// Fork implements [store.Forker].
func (s *engine) Fork() (store.Store, error) {
	v := s.hold()
	if v == nil {
		return nil, store.ErrClosed
	}
	defer v.release()
	f := open(&version{tree: v.tree}, s.owners)
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
	t := s.current.Load()
	if t == nil {
		return 0
	}
	return t.rows
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
	value, ok = v.tree.value(space, partition, sort)
	return value, ok, nil
}

// View implements [store.Store].
func (s *engine) View(ctx context.Context, fn func(store.Reader) error) error {
	v := s.hold()
	if v == nil {
		return store.ErrClosed
	}
	r := &reader{ctx: ctx, version: v, tree: v.tree}
	r.uses.Store(1)
	defer r.end()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fn(r)
}

// Update implements [store.Store]. It calls fn once. Updates run one after the
// other; a waiting Update returns early if ctx ends.
func (s *engine) Update(ctx context.Context, fn func(store.Writer) error) error {
	if err := s.writer.take(ctx); err != nil {
		return err
	}
	defer s.writer.leave()

	base := s.hold()
	if base == nil {
		return store.ErrClosed
	}
	w := &writer{reader: reader{ctx: ctx, version: base, tree: base.tree}, store: s}
	w.uses.Store(1)
	s.nodes.forget() // nodes replaced by a failed Update are still in use
	if err := w.run(fn); err != nil {
		return err
	}
	if w.owner == 0 { // nothing was changed
		return nil
	}
	if !s.current.CompareAndSwap(base, &version{tree: w.tree}) {
		return store.ErrClosed
	}
	s.nodes.publish(base, s.shared.Load)
	return nil
}

// run calls fn unless the context has ended.
func (w *writer) run(fn func(store.Writer) error) error {
	defer w.end()
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	return fn(w)
}

// Close implements [store.Store]. Running Views continue; a running Update
// fails with [store.ErrClosed]. The rows become garbage.
func (s *engine) Close() error {
	s.current.Store(nil)
	return nil
}
