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
	b.lo = store.AppendAddress(b.lo[:0], space, partition, sort)
	it, ok := r.tree.Get(row{key: b.lo, addr: uint32(len(b.lo)), sort: uint32(len(b.lo))})
	boundsPool.Put(b)
	return it.value, ok, nil
}

// Query implements [store.Reader].
func (r *reader) Query(space store.Space, partition []byte, rng store.Range, reverse bool) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		b := boundsPool.Get().(*bounds)
		defer boundsPool.Put(b)
		b.lo, b.hi = store.AppendRange(b.lo[:0], b.hi[:0], space, partition, rng)
		r.walk(b.lo, b.hi, reverse, yield)
	}
}

// Scan implements [store.Reader].
func (r *reader) Scan(space store.Space, s store.Span) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		b := boundsPool.Get().(*bounds)
		defer boundsPool.Put(b)
		lo, hi := store.AppendSpan(b.lo[:0], b.hi[:0], space, s)
		b.lo = lo
		if hi != nil {
			b.hi = hi
		}
		r.walk(lo, hi, false, yield)
	}
}

// walk yields the rows with lo <= address < hi. A nil hi is no bound, and is
// not used in reverse.
func (r *reader) walk(lo, hi []byte, reverse bool, yield func(store.Row, error) bool) {
	if err := r.check(); err != nil {
		yield(store.Row{}, err)
		return
	}
	if hi != nil && bytes.Compare(lo, hi) >= 0 {
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
	if reverse {
		t.DescendRange(boundary(hi), boundary(lo), visit)
	} else {
		ascend(t, lo, hi, visit)
	}
}

func ascend(t *tree, lo, hi []byte, visit func(row) bool) {
	if hi == nil {
		t.AscendGreaterOrEqual(boundary(lo), visit)
	} else {
		t.AscendRange(boundary(lo), boundary(hi), visit)
	}
}
