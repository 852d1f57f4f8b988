package memory

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"sync/atomic"

	"github.com/sortkey/sortkey/store"
)

// A reader reads one tree. A writer changes which one between two reads.
type reader struct {
	ctx  context.Context //nolint:containedctx // lives as long as the call of View or Update
	tree tree
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
	a := newAddresses()
	defer a.free()
	if rec := r.tree.get(a.row(space, partition, sort)); rec != nil {
		return rec.value, true, nil
	}
	return nil, false, nil
}

// Query implements [store.Reader].
func (r *reader) Query(space store.Space, partition []byte, rng store.Range, reverse bool) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		a := newAddresses()
		defer a.free()
		a.slice(space, partition, rng)
		r.walk(a.lo, a.hi, reverse, yield)
	}
}

// Scan implements [store.Reader].
func (r *reader) Scan(space store.Space, s store.Span) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		a := newAddresses()
		defer a.free()
		if a.span(space, s) {
			r.walk(a.lo, a.hi, false, yield)
		} else {
			r.walk(a.lo, nil, false, yield)
		}
	}
}

// walk yields the rows with lo <= address < hi. A nil hi is no bound.
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

	if reverse {
		t.descend(lo, hi, func(recs []*record) bool {
			for _, rec := range slices.Backward(recs) {
				if r.done.Load() {
					yield(store.Row{}, store.ErrClosed)
					return false
				}
				if !yield(rec.public(), nil) {
					return false
				}
			}
			return r.goOn(yield)
		})
		return
	}
	t.ascend(lo, hi, func(recs []*record) bool {
		for _, rec := range recs {
			if r.done.Load() {
				yield(store.Row{}, store.ErrClosed)
				return false
			}
			if !yield(rec.public(), nil) {
				return false
			}
		}
		return r.goOn(yield)
	})
}

// goOn looks at the context after the rows of a leaf, of which there are fewer
// than [store.ContextRows].
func (r *reader) goOn(yield func(store.Row, error) bool) bool {
	if r.ctx.Err() == nil {
		return true
	}
	yield(store.Row{}, context.Cause(r.ctx))
	return false
}
