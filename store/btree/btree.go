// Package btree is the reference engine: a short, plain [store.Store] with a
// google/btree for each partition. Read it before writing an engine. The
// benchmarks of the memory engine compare that engine with it.
//
// A published tree never changes. An Update works on a clone, which shares
// nodes with the original until they are changed, and publishes it on success.
// So a View never waits, and a failed Update has nothing to undo.
package btree

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"sync/atomic"

	"github.com/google/btree"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

// degree is the degree of all trees, the one of google/btree's own benchmarks.
const degree = 32

// A partition holds the rows of one partition, sorted by sort position.
// Partitions are in scan order.
type partition struct {
	space store.Space
	hash  uint32
	key   []byte
	rows  *rowTree
}

type row struct{ sort, value []byte }

type (
	partitionTree = btree.BTreeG[partition]
	rowTree       = btree.BTreeG[row]
)

func newPartition(space store.Space, key []byte) partition {
	return partition{space: space, hash: store.Hash(key), key: key}
}

func lessPartition(a, b partition) bool {
	return cmp.Or(cmp.Compare(a.space, b.space), cmp.Compare(a.hash, b.hash), bytes.Compare(a.key, b.key)) < 0
}

func lessRow(a, b row) bool { return bytes.Compare(a.sort, b.sort) < 0 }

// engine is a store in memory.
type engine struct {
	writer  chan struct{} // the write lock: contains an element while an Update runs
	current atomic.Pointer[partitionTree]
}

// Open returns a new, empty store, for comparing other engines with it. It is safe for concurrent use.
func Open() store.Store {
	s := &engine{writer: make(chan struct{}, 1)}
	s.current.Store(btree.NewG(degree, lessPartition))
	return s
}

// View implements [store.Store].
func (s *engine) View(ctx context.Context, fn func(store.Reader) error) error {
	tree := s.current.Load()
	switch {
	case tree == nil:
		return store.ErrClosed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	r := &reader{ctx: ctx, tree: tree}
	defer r.done.Store(true)
	return fn(r)
}

// Update implements [store.Store]. Updates run one after the other.
func (s *engine) Update(ctx context.Context, fn func(store.Writer) error) error {
	if err := s.lockWrites(ctx); err != nil {
		return err
	}
	defer func() { <-s.writer }()
	published := s.current.Load()
	switch {
	case published == nil:
		return store.ErrClosed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}

	w := &writer{reader: reader{ctx: ctx, tree: published.Clone()}, own: map[*rowTree]bool{}}
	w.reader.freeze = w.freeze
	defer w.done.Store(true)
	if err := fn(w); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !s.current.CompareAndSwap(published, w.tree) {
		return store.ErrClosed // closed meanwhile
	}
	return nil
}

// lockWrites takes the write lock: it waits until no other Update runs.
func (s *engine) lockWrites(ctx context.Context) error {
	select {
	case s.writer <- struct{}{}:
		return nil
	default:
	}
	select {
	case s.writer <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close implements [store.Store].
func (s *engine) Close() error {
	s.current.Store(nil)
	return nil
}

// A reader reads one tree.
type reader struct {
	ctx    context.Context
	tree   *partitionTree
	freeze func() // set by writers: see writer.freeze
	done   atomic.Bool
}

func (r *reader) err() error {
	switch {
	case r.done.Load():
		return store.ErrClosed
	case r.ctx.Err() != nil:
		return context.Cause(r.ctx)
	}
	return nil
}

// Get implements [store.Reader].
func (r *reader) Get(space store.Space, key, sort []byte) ([]byte, bool, error) {
	if err := r.err(); err != nil {
		return nil, false, err
	}
	p, ok := r.tree.Get(newPartition(space, key))
	if !ok {
		return nil, false, nil
	}
	found, ok := p.rows.Get(row{sort: sort})
	return found.value, ok, nil
}

// Query implements [store.Reader].
func (r *reader) Query(space store.Space, key []byte, in store.Range, reverse bool) iter.Seq2[store.Row, error] {
	return r.loop(func(tree *partitionTree, visit func(partition, row) bool) {
		p, ok := tree.Get(newPartition(space, key))
		if !ok {
			return
		}
		each := func(x row) bool { return visit(p, x) }
		if !reverse {
			if in.Hi == nil {
				p.rows.AscendGreaterOrEqual(row{sort: in.Lo}, each)
			} else {
				p.rows.AscendRange(row{sort: in.Lo}, row{sort: in.Hi}, each)
			}
			return
		}

		down := func(x row) bool {
			switch {
			case bytes.Compare(x.sort, in.Lo) < 0:
				return false
			case in.Hi != nil && bytes.Compare(x.sort, in.Hi) >= 0: // Hi itself
				return true
			}
			return each(x)
		}

		if in.Hi == nil {
			p.rows.Descend(down)
		} else {
			p.rows.DescendLessOrEqual(row{sort: in.Hi}, down)
		}
	})
}

// Scan implements [store.Reader].
func (r *reader) Scan(space store.Space, in store.Span) iter.Seq2[store.Row, error] {
	return r.loop(func(tree *partitionTree, visit func(partition, row) bool) {
		start, from := partition{space: space, hash: in.First}, row{}
		if in.After != nil {
			if p := newPartition(space, in.After.Partition); p.hash >= in.First {
				start, from.sort = p, append(bytes.Clone(in.After.Sort), 0) // the smallest bytes above it
			}
		}
		tree.AscendGreaterOrEqual(start, func(p partition) bool {
			if p.space != space || p.hash > in.Last {
				return false
			}
			if !bytes.Equal(p.key, start.key) {
				from.sort = nil
			}
			more := true
			p.rows.AscendGreaterOrEqual(from, func(x row) bool {
				more = visit(p, x)
				return more
			})
			return more
		})
	})
}

// loop returns an iterator over the rows that walk visits, in the tree as it is
// when the iteration starts.
func (r *reader) loop(walk func(tree *partitionTree, visit func(partition, row) bool)) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		if err := r.err(); err != nil {
			yield(store.Row{}, err)
			return
		}
		tree := r.tree
		if r.freeze != nil {
			r.freeze()
		}
		n, broken := 0, false
		var failed error
		walk(tree, func(p partition, x row) bool {
			if n++; n%capability.ContextRows == 0 || r.done.Load() {
				if failed = r.err(); failed != nil {
					return false
				}
			}
			broken = !yield(store.Row{Partition: p.key, Sort: x.sort, Value: x.value}, nil)
			return !broken
		})

		if failed != nil && !broken {
			yield(store.Row{}, failed)
		}
	}
}

// A writer changes a tree that no one else reads or changes.
type writer struct {
	reader
	own map[*rowTree]bool // the trees of rows that only this writer uses
}

// freeze prevents changes to the current tree, because an iteration is about to read it. The writer continues on a
// clone of the tree, and clones the rows of each partition before it changes them.
func (w *writer) freeze() {
	w.tree = w.tree.Clone()
	clear(w.own)
}

// rows returns the rows of a partition for writing. It returns nil when the
// partition does not exist and create is false.
func (w *writer) rows(space store.Space, key []byte, create bool) *rowTree {
	p := newPartition(space, key)
	found, ok := w.tree.Get(p)
	switch {
	case ok && w.own[found.rows]:
		return found.rows
	case ok:
		p.key, p.rows = found.key, found.rows.Clone()
	case create:
		p.key, p.rows = bytes.Clone(key), btree.NewG(degree, lessRow)
	default:
		return nil
	}
	w.own[p.rows] = true
	w.tree.ReplaceOrInsert(p)
	return p.rows
}

// Put implements [store.Writer].
func (w *writer) Put(space store.Space, key, sort, value []byte) error {
	if err := w.err(); err != nil {
		return err
	}
	w.rows(space, key, true).ReplaceOrInsert(row{bytes.Clone(sort), value})
	return nil
}

// Delete implements [store.Writer].
func (w *writer) Delete(space store.Space, key, sort []byte) error {
	if err := w.err(); err != nil {
		return err
	}
	rows := w.rows(space, key, false)
	if rows == nil {
		return nil
	}
	rows.Delete(row{sort: sort})
	if rows.Len() == 0 {
		w.tree.Delete(newPartition(space, key))
	}
	return nil
}

// Clear implements [store.Writer].
func (w *writer) Clear(space store.Space) error {
	if err := w.err(); err != nil {
		return err
	}
	var all []partition
	w.tree.AscendGreaterOrEqual(partition{space: space}, func(p partition) bool {
		if p.space == space {
			all = append(all, p)
		}
		return p.space == space
	})
	for _, p := range all {
		w.tree.Delete(p)
	}
	return nil
}
