package memory

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/google/btree"

	"github.com/sortkey/sortkey/store"
)

// degree is half the children of a B-tree node.
const degree = 32

// Options configure [Open]. The zero value is ready to use; there is nothing
// to configure yet.
type Options struct{}

// A Store keeps rows in memory. It is safe for concurrent use.
type Store struct {
	writer chan struct{} // holds one token while an Update runs

	// cloning guards the first copy an Update or Fork takes of a published
	// tree: copying marks both trees, which readers do not notice.
	cloning sync.Mutex
	current atomic.Pointer[tree] // nil once closed
}

type tree = btree.BTreeG[row]

var _ store.Store = (*Store)(nil)

// Open returns a new, empty store.
func Open(Options) *Store { return open(btree.NewG(degree, less)) }

func open(t *tree) *Store {
	s := &Store{writer: make(chan struct{}, 1)}
	s.current.Store(t)
	return s
}

// Fork returns a new store with the same rows. Changes to either do not show
// in the other. It takes a short, constant time, does not wait for updates and
// leaves out those still running; rows are shared until they change. The fork
// of a closed store is closed.
func (s *Store) Fork() *Store {
	s.cloning.Lock()
	defer s.cloning.Unlock()
	t := s.current.Load()
	if t == nil {
		return open(nil)
	}
	return open(t.Clone())
}

// Len returns the number of rows in all spaces, 0 after Close.
func (s *Store) Len() int {
	t := s.current.Load()
	if t == nil {
		return 0
	}
	return t.Len()
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
	r := &reader{ctx: ctx, tree: t}
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
	w := &writer{reader: reader{ctx: ctx, tree: base}, store: s}
	defer w.done.Store(true)
	if err := fn(w); err != nil {
		return err
	}
	if w.owned && !s.current.CompareAndSwap(base, w.tree) {
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
