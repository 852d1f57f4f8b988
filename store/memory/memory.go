package memory

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

// engine is a store in memory: the current version of a tree of rows, and older versions that still have readers.
type engine struct {
	current atomic.Pointer[version] // nil after Close
	history history                 // older versions that still have readers

	writing *semaphore.Weighted // the write lock, of weight 1
	open    context.Context     //nolint:containedctx // until Close, which ends the waits for the write lock
	close   context.CancelCauseFunc
	nodes   nodes // for the Update that holds the write lock

	owners *atomic.Uint64 // the last number given to an owner of nodes; all forks share it
	shared atomic.Uint64  // forks may share nodes whose owner is at most this one
}

var (
	_ store.Forker      = (*engine)(nil)
	_ capability.Getter = (*engine)(nil)
)

// Open returns a new, empty store: the one that package sortkey takes by default. It is safe for concurrent use. Its
// Fork takes a short, constant time, does not wait for updates and omits those still running. A fork shares rows with
// its origin until they change.
func Open() store.Forker { return newEngine(tree{}, 0, new(atomic.Uint64)) }

// newEngine returns a store with the rows of a tree. owner is the newest owner of the tree's nodes.
func newEngine(t tree, owner uint64, owners *atomic.Uint64) *engine {
	s := &engine{writing: semaphore.NewWeighted(1), owners: owners}
	s.open, s.close = context.WithCancelCause(context.Background())
	s.current.Store(&version{tree: t, owner: owner, store: s})
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
		v.release() // an Update has published a newer version meanwhile, and may have missed this reader
	}
}

// Fork implements [store.Forker].
func (s *engine) Fork() (store.Store, error) {
	v := s.hold()
	if v == nil {
		return nil, store.ErrClosed
	}
	defer v.release()
	f := newEngine(v.tree, v.owner, s.owners)
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

// Get implements [capability.Getter].
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
	value, ok = v.value(space, partition, sort)
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

// Update implements [store.Store]. One Update runs at a time. The others wait in the order in which they were called,
// until their contexts end or the store is closed.
func (s *engine) Update(ctx context.Context, fn func(store.Writer) error) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.writing.Release(1)
	w, err := s.newWriter(ctx)
	if err != nil {
		return err
	}
	if err := w.run(fn); err != nil || w.owner == 0 {
		return err // nil if fn changed nothing
	}
	return s.publish(w)
}

// lock waits for the write lock.
func (s *engine) lock(ctx context.Context) error {
	if s.writing.TryAcquire(1) {
		return nil
	}
	waiting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.open, func() { cancel(store.ErrClosed) })()
	if s.writing.Acquire(waiting, 1) != nil {
		return context.Cause(waiting)
	}
	return nil
}

// publish makes the tree of a writer the current version.
func (s *engine) publish(w *writer) error {
	old := w.version
	if !s.current.CompareAndSwap(old, &version{tree: w.tree, owner: w.owner, store: s}) {
		return store.ErrClosed
	}
	s.history.add(old, &s.nodes)
	return nil
}

// Close implements [store.Store]. Running Views continue; a running Update
// fails with [store.ErrClosed]. The rows become garbage.
func (s *engine) Close() error {
	s.current.Store(nil)
	s.close(store.ErrClosed)
	s.history.forget()
	return nil
}
