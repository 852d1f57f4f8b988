package memory

import (
	"bytes"
	"context"
	"iter"
	"sync/atomic"

	"github.com/sortkey/sortkey/store"
)

// A reader reads one tree. A writer changes which one between two reads.
type reader struct {
	ctx  context.Context //nolint:containedctx // lives as long as the call of View or Update
	tree *tree
	done atomic.Bool

	// walks counts the iterators running over tree. Only a writer looks at it.
	walks atomic.Int32
}

func (r *reader) check() error {
	if r.done.Load() {
		return store.ErrClosed
	}
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	return nil
}

// Get implements [store.Reader].
func (r *reader) Get(space store.Space, partition, sort []byte) (value []byte, ok bool, err error) {
	if r.done.Load() {
		return nil, false, store.ErrClosed
	}
	b := boundsPool.Get().(*bounds)
	defer boundsPool.Put(b)
	b.lo.buf = store.AppendAddress(b.lo.buf[:0], space, partition, sort)
	if it, ok := r.tree.Get(b.lo.row()); ok {
		return it.value, true, nil
	}
	return nil, false, nil
}

// Query implements [store.Reader].
func (r *reader) Query(space store.Space, partition []byte, rng store.Range, reverse bool) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		b := boundsPool.Get().(*bounds)
		defer boundsPool.Put(b)
		b.lo.buf, b.hi.buf = store.AppendRange(b.lo.buf[:0], b.hi.buf[:0], space, partition, rng)
		r.walk(b, true, reverse, yield)
	}
}

// Scan implements [store.Reader].
func (r *reader) Scan(space store.Space, s store.Span) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		b := boundsPool.Get().(*bounds)
		defer boundsPool.Put(b)
		lo, hi := store.AppendSpan(b.lo.buf[:0], b.hi.buf[:0], space, s)
		b.lo.buf = lo
		if hi != nil {
			b.hi.buf = hi
		}
		r.walk(b, hi != nil, false, yield)
	}
}

// walk yields the rows with lo <= address, and below hi if it is bounded, as
// it must be in reverse.
func (r *reader) walk(b *bounds, bounded, reverse bool, yield func(store.Row, error) bool) {
	if err := r.check(); err != nil {
		yield(store.Row{}, err)
		return
	}
	if bounded && bytes.Compare(b.lo.buf, b.hi.buf) >= 0 {
		return
	}
	t, walks := r.tree, &r.walks
	walks.Add(1)
	defer walks.Add(-1)

	n := 0
	visit := func(it row) bool {
		if n++; n%store.ContextRows == 0 && r.ctx.Err() != nil {
			yield(store.Row{}, context.Cause(r.ctx))
			return false
		}
		if r.done.Load() {
			yield(store.Row{}, store.ErrClosed)
			return false
		}
		return yield(it.public(), nil)
	}
	switch {
	case reverse:
		t.DescendRange(b.hi.boundary(), b.lo.boundary(), visit)
	case bounded:
		t.AscendRange(b.lo.boundary(), b.hi.boundary(), visit)
	default:
		t.AscendGreaterOrEqual(b.lo.boundary(), visit)
	}
}
