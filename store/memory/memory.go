package memory

import (
	"context"
	"sync/atomic"

	"github.com/sortkey/sortkey/store"
)

// Options configure [Open]. The zero value is ready to use; there is nothing
// to configure yet.
type Options struct{}

// A Store keeps rows in memory. It is safe for concurrent use.
type Store struct {
	writer  chan struct{}        // holds one token while an Update runs
	current atomic.Pointer[tree] // nil once closed
	owners  *atomic.Uint64       // the last owner of nodes; forks share nodes, so they share it
}

var _ store.Store = (*Store)(nil)

// Open returns a new, empty store.
func Open(Options) *Store { return open(new(tree), new(atomic.Uint64)) }

// open returns a store of the rows of a tree, closed if there is none.
func open(t *tree, owners *atomic.Uint64) *Store {
	s := &Store{writer: make(chan struct{}, 1), owners: owners}
	s.current.Store(t)
	return s
}

// Fork returns a new store with the same rows. Changes to either do not show
// in the other. It takes a short, constant time, does not wait for updates and
// leaves out those still running; rows are shared until they change. The fork
// of a closed store is closed.
func (s *Store) Fork() *Store { return open(s.current.Load(), s.owners) }

// Len returns the number of rows in all spaces, 0 after Close.
func (s *Store) Len() int {
	t := s.current.Load()
	if t == nil {
		return 0
	}
	return t.rows
}

// View implements [store.Store].
func (s *Store) View(ctx context.Context, fn func(store.Reader) error) error {
	t := s.current.Load()
	if t == nil {
		return store.ErrClosed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r := &reader{ctx: ctx, tree: *t}
	defer r.done.Store(true)
	return fn(r)
}

// Update implements [store.Store]. It calls fn once. Updates run one after the
// other; while one waits it returns early if ctx ends.
func (s *Store) Update(ctx context.Context, fn func(store.Writer) error) error {
	select {
	case s.writer <- struct{}{}:
	default:
		select {
		case s.writer <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	defer func() { <-s.writer }()

	base := s.current.Load()
	if base == nil {
		return store.ErrClosed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w := &writer{reader: reader{ctx: ctx, tree: *base}, store: s}
	defer w.done.Store(true)
	if err := fn(w); err != nil {
		return err
	}
	if w.owner == 0 { // nothing was changed
		return nil
	}
	if next := w.tree; !s.current.CompareAndSwap(base, &next) {
		return store.ErrClosed
	}
	return nil
}

// Close implements [store.Store]. Views still running go on; an Update still
// running fails with [store.ErrClosed]. The rows can be collected as garbage.
func (s *Store) Close() error {
	s.current.Store(nil)
	return nil
}
