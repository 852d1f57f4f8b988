package tikv

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"sync/atomic"

	tikverr "github.com/tikv/client-go/v2/error"

	"github.com/sortkey/sortkey/store"
)

// A reader reads the cluster as of one timestamp. In an Update it also sees the
// changes of its writer, and locks or notes what it reads.
type reader struct {
	ctx    context.Context //nolint:containedctx // lives as long as the call of View or Update
	store  *Store
	ts     uint64
	writer *writer // nil in a View
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

// failed returns the error of a read or a lock as callers see it.
func (r *reader) failed(err error) error {
	switch {
	case err == nil:
		return nil
	case r.ctx.Err() != nil:
		return context.Cause(r.ctx)
	}
	return wrap(err)
}

// Get implements [store.Reader]. The caller owns the value.
func (r *reader) Get(space store.Space, partition, sort []byte) (value []byte, ok bool, err error) {
	if err := r.err(); err != nil {
		return nil, false, err
	}
	addr := store.AppendAddress(nil, space, partition, sort)
	if r.writer != nil {
		return r.writer.read(addr)
	}
	return r.get(addr)
}

// get reads a row as of the timestamp.
func (r *reader) get(addr []byte) (value []byte, ok bool, err error) {
	ctx, cancel := context.WithTimeout(r.ctx, r.store.opts.Timeout)
	defer cancel()
	stored, err := r.store.client.GetSnapshot(r.ts).Get(ctx, r.store.keys.key(addr))
	if tikverr.IsErrNotFound(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, r.failed(err)
	}
	value, _, err = decode(stored)
	return value, err == nil, err
}

// Query implements [store.Reader].
func (r *reader) Query(space store.Space, partition []byte, rng store.Range, reverse bool) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		lo, hi := store.AppendRange(nil, nil, space, partition, rng)
		at := len(lo) - len(rng.Lo)
		r.walk(lo, hi, reverse, func(found row, err error) bool {
			if err != nil {
				return yield(store.Row{}, err)
			}
			return yield(store.Row{Sort: found.addr[at:len(found.addr):len(found.addr)], Value: found.value}, nil)
		})
	}
}

// Scan implements [store.Reader].
func (r *reader) Scan(space store.Space, s store.Span) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		lo, hi := store.AppendSpan(nil, nil, space, s)
		r.walk(lo, hi, false, func(found row, err error) bool {
			if err != nil {
				return yield(store.Row{}, err)
			}
			_, partition, sort, ok := store.ParseAddress(found.addr, nil)
			if !ok {
				yield(store.Row{}, fmt.Errorf("%w: %x is not an address", errDamaged, found.addr))
				return false
			}
			return yield(store.Row{Partition: partition, Sort: sort, Value: found.value}, nil)
		})
	}
}

// walk yields the rows with addresses in [lo, hi), where a nil hi is no bound. An
// error comes last.
func (r *reader) walk(lo, hi []byte, reverse bool, yield func(row, error) bool) {
	if err := r.err(); err != nil {
		yield(row{}, err)
		return
	}
	if hi != nil && bytes.Compare(lo, hi) >= 0 {
		return
	}
	rows := r.stored(lo, hi, reverse)
	if r.writer != nil {
		if changed := r.writer.changes.within(lo, hi, reverse); len(changed) > 0 {
			rows = merge(rows, changed, reverse)
		}
	}
	n := 0
	for found, err := range rows {
		if n++; err == nil && n%store.ContextRows == 0 && r.ctx.Err() != nil {
			err = context.Cause(r.ctx)
		}
		if !yield(found, err) || err != nil {
			return
		}
		if r.done.Load() {
			yield(row{}, store.ErrClosed)
			return
		}
	}
}

// stored returns the rows of the cluster with addresses in [lo, hi).
func (r *reader) stored(lo, hi []byte, reverse bool) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		in := slice{lo: r.store.keys.low(lo), hi: r.store.keys.high(hi), limit: firstChunk, reverse: reverse, ts: r.ts}
		var b bucket
		flush := func() bool {
			for _, found := range b.take(reverse) {
				if within(found.addr, lo, hi) && !yield(found, nil) {
					return false
				}
			}
			return true
		}
		for {
			pairs, err := r.chunk(in)
			size := 0
			for _, p := range pairs {
				found, head, err := r.store.keys.row(p.key, p.value)
				if err != nil {
					yield(row{}, err)
					return
				}
				if !b.has(head) && !flush() {
					return
				}
				if head != nil {
					b.head, b.rows = head, append(b.rows, found)
				} else if !yield(found, nil) {
					return
				}
				size += len(p.key) + len(p.value)
			}
			if err != nil {
				yield(row{}, err)
				return
			}
			if len(pairs) < in.limit {
				flush()
				return
			}
			if end := pairs[len(pairs)-1].key; reverse {
				in.hi = end
			} else {
				in.lo = append(end[:len(end):len(end)], 0)
			}
			in.limit = min(in.limit*growth, maxChunk, max(1, chunkBytes/(size/len(pairs)+1)))
		}
	}
}

// chunk reads a slice, and notes what an Update sees.
func (r *reader) chunk(in slice) ([]pair, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	pairs, err := r.store.scan(r.ctx, in)
	if r.writer != nil {
		if err != nil {
			return nil, r.writer.fail(err)
		}
		r.writer.observed = append(r.writer.observed, observe(in, pairs))
	}
	return pairs, r.failed(err)
}
