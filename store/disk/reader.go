package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

// A reader reads a snapshot, or the batch of an update on top of the state
// before it.
type reader struct {
	ctx   context.Context //nolint:containedctx // lives as long as the call of View or Update
	store *Store
	from  pebble.Reader

	mu   sync.RWMutex // read-locked while from is in use, write-locked to set done
	done atomic.Bool
}

func (r *reader) finish() {
	r.mu.Lock()
	r.done.Store(true)
	r.mu.Unlock()
}

func (r *reader) finished() bool { return r.done.Load() }

// bounds holds the buffers that one read needs in addition to its iterator.
type bounds struct {
	lo, hi, partition []byte
	opts              pebble.IterOptions
}

var boundsPool = sync.Pool{New: func() any {
	return &bounds{lo: make([]byte, 0, 256), hi: make([]byte, 0, 256)}
}}

// Get implements [store.Reader]. The caller owns the value.
func (r *reader) Get(space store.Space, partition, sort []byte) (value []byte, ok bool, err error) {
	b := boundsPool.Get().(*bounds)
	defer boundsPool.Put(b)
	b.lo = address.Append(b.lo[:0], space, partition, sort)
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.finished() {
		return nil, false, store.ErrClosed
	}
	found, closer, err := r.from.Get(b.lo)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, r.store.readError(err)
	}
	value = append(make([]byte, 0, len(found)), found...)
	if err := closer.Close(); err != nil {
		return nil, false, r.store.readError(err)
	}
	return value, true, nil
}

// readError returns the error for a failed read. In the failed state it returns the failure, because Pebble may look
// for files that were never written.
func (s *Store) readError(err error) error {
	if failed := s.failed(); failed != nil {
		return failed
	}
	return fmt.Errorf("disk: cannot read: %w", damaged(err))
}

// Query implements [store.Reader].
func (r *reader) Query(space store.Space, partition []byte, rng store.Range, reverse bool) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		b := boundsPool.Get().(*bounds)
		defer boundsPool.Put(b)
		b.lo, b.hi = address.AppendRange(b.lo[:0], b.hi[:0], space, partition, rng)
		b.opts.LowerBound, b.opts.UpperBound = b.lo, b.hi
		at := len(b.lo) - len(rng.Lo)
		r.walk(b, reverse, yield, func(key []byte) (store.Row, bool) {
			return store.Row{Sort: key[at:len(key):len(key)]}, true
		})
	}
}

// Scan implements [store.Reader].
func (r *reader) Scan(space store.Space, s store.Span) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		b := boundsPool.Get().(*bounds)
		defer boundsPool.Put(b)
		lo, hi := address.AppendSpan(b.lo[:0], b.hi[:0], space, s)
		b.lo = lo
		b.opts.LowerBound, b.opts.UpperBound = lo, hi
		if hi != nil {
			b.hi = hi
		}
		var prefix, partition []byte // of the previous row; the next row usually has the same
		r.walk(b, false, yield, func(key []byte) (store.Row, bool) {
			if len(prefix) == 0 || !bytes.HasPrefix(key, prefix) {
				_, p, sort, ok := address.Parse(key, b.partition)
				if !ok {
					return store.Row{}, false
				}
				prefix = append(prefix[:0], key[:len(key)-len(sort)]...)
				b.partition = append(b.partition[:0], p...)
				partition = b.partition
			}
			return store.Row{Partition: partition, Sort: key[len(prefix):len(key):len(key)]}, true
		})
	}
}

// walk yields the rows within b.opts. It calls parse to make the row of each address.
func (r *reader) walk(
	b *bounds, reverse bool, yield func(store.Row, error) bool, parse func(key []byte) (store.Row, bool),
) {
	if r.ctx.Err() != nil && !r.finished() {
		yield(store.Row{}, context.Cause(r.ctx))
		return
	}
	lo, hi := b.opts.LowerBound, b.opts.UpperBound
	it, err := r.iterate(&b.opts, hi != nil && bytes.Compare(lo, hi) >= 0)
	if err != nil {
		yield(store.Row{}, err)
		return
	}
	if it == nil {
		return
	}
	defer r.store.end()
	defer it.Close()

	first, next := it.First, it.Next
	if reverse {
		first, next = it.Last, it.Prev
	}
	n := 0
	for ok := first(); ok; ok = next() {
		if n++; n%capability.ContextRows == 0 && r.ctx.Err() != nil {
			yield(store.Row{}, context.Cause(r.ctx))
			return
		}
		row, ok := parse(it.Key())
		if !ok {
			yield(store.Row{}, fmt.Errorf("disk: corrupt store: key %x is not an address", it.Key()))
			return
		}
		if row.Value, err = it.ValueAndErr(); err != nil {
			yield(store.Row{}, r.store.readError(err))
			return
		}
		if !yield(row, nil) {
			return
		}
		if r.finished() {
			yield(store.Row{}, store.ErrClosed)
			return
		}
	}
	if err := it.Error(); err != nil {
		yield(store.Row{}, r.store.readError(err))
	}
}

// iterate opens an iterator, or returns nil when the result is empty. The iterator counts as a user of the store
// until it is closed.
func (r *reader) iterate(opts *pebble.IterOptions, empty bool) (*pebble.Iterator, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.finished() {
		return nil, store.ErrClosed
	}
	if empty {
		return nil, nil
	}
	it, err := r.from.NewIter(opts)
	if err != nil {
		return nil, r.store.readError(err)
	}
	r.store.hold()
	return it, nil
}
