package tikv

import (
	"context"
	"iter"
	"sync/atomic"

	tikverr "github.com/tikv/client-go/v2/error"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/internal/remote"
)

// A reader reads the cluster as of one timestamp. In an Update it also sees the changes of its writer. It then locks
// the single rows that it reads, and records the ranges.
type reader struct {
	ctx    context.Context //nolint:containedctx // lives as long as the call of View or Update
	store  *Store
	ts     uint64
	writer *writer // nil in a View
	done   atomic.Bool

	// Rows that a View prefetched, by address; not changed afterwards.
	fetched atomic.Pointer[map[string]remote.Row]
}

var _ capability.Prefetcher = (*writer)(nil)

// Err implements [remote.Source].
func (r *reader) Err() error {
	switch {
	case r.done.Load():
		return store.ErrClosed
	case r.ctx.Err() != nil:
		return context.Cause(r.ctx)
	}
	return nil
}

// failed converts the error of a read or a lock to the error that the caller of the Store gets.
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
	if err := r.Err(); err != nil {
		return nil, false, err
	}
	addr := address.Append(nil, space, partition, sort)
	if r.writer != nil {
		return r.writer.read(space, addr)
	}
	if fetched := r.fetched.Load(); fetched != nil {
		if known, ok := (*fetched)[string(addr)]; ok {
			return known.Value, !known.Deleted, nil
		}
	}
	return r.get(addr)
}

// Prefetch implements [capability.Prefetcher] for Views. It sends one request to each region that has some of the
// rows, all at the same time. In an Update it does nothing, because an Update must lock each row that it reads. A
// single request that locked several rows would leave locks behind, until they expire, if regions moved meanwhile.
func (r *reader) Prefetch(addrs [][]byte) error {
	if err := r.Err(); err != nil || r.writer != nil {
		return err
	}

	keys := make([][]byte, len(addrs))
	for i, addr := range addrs {
		keys[i] = r.store.keys.key(addr)
	}
	ctx, cancel := context.WithTimeout(r.ctx, r.store.opts.Timeout)
	defer cancel()
	stored, err := r.store.client.GetSnapshot(r.ts).BatchGet(ctx, keys)
	if err != nil {
		return r.failed(err)
	}

	fetched := make(map[string]remote.Row, len(addrs))
	for i, addr := range addrs {
		row := remote.Row{Addr: addr, Deleted: true}
		if held, ok := stored[string(keys[i])]; ok {
			row.Deleted = false
			if row.Value, _, err = decode(held); err != nil {
				return err
			}
		}
		fetched[string(addr)] = row
	}
	r.fetched.Store(&fetched)
	return nil
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
	return remote.Query(r, r.changes(), space, partition, rng, reverse)
}

// Scan implements [store.Reader].
func (r *reader) Scan(space store.Space, s store.Span) iter.Seq2[store.Row, error] {
	return remote.Scan(r, r.changes(), space, s)
}

// changes returns the changes of an Update, or nil in a View.
func (r *reader) changes() *remote.Changes {
	if r.writer == nil {
		return nil
	}
	return r.writer.changes
}

// Keys implements [remote.Source].
func (r *reader) Keys() *remote.Keys { return &r.store.keys.rows }

// Chunk implements [remote.Source]. In an Update it records the range that it has read.
func (r *reader) Chunk(lo, hi []byte, limit int, reverse bool) (keys [][]byte, rows []remote.Row, err error) {
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	in := slice{lo: lo, hi: hi, limit: limit, reverse: reverse, ts: r.ts}
	pairs, err := r.store.scan(r.ctx, in)
	if r.writer != nil {
		if err != nil {
			return nil, nil, r.writer.fail(err)
		}
		r.writer.observed = append(r.writer.observed, observe(in, pairs))
	}
	if err != nil {
		return nil, nil, r.failed(err)
	}
	keys, rows = make([][]byte, len(pairs)), make([]remote.Row, len(pairs))
	for i, p := range pairs {
		keys[i] = p.key
		if rows[i], err = r.store.keys.row(p.key, p.value); err != nil {
			return nil, nil, err
		}
	}
	return keys, rows, nil
}
