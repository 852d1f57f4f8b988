package postgres

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/internal/remote"
)

// A reader reads a snapshot, or a transaction and the changes of its writer.
type reader struct {
	session
	changes *remote.Changes // nil in a View

	// Rows that a View prefetched, by address; not changed afterwards.
	fetched atomic.Pointer[map[string]remote.Row]
}

// Get implements [store.Reader].
func (r *reader) Get(space store.Space, partition, sort []byte) (value []byte, ok bool, err error) {
	if r.done.Load() {
		return nil, false, store.ErrClosed
	}

	addr := address.Append(nil, space, partition, sort)
	if r.changes != nil {
		if known, ok := r.changes.Get(space, addr); ok && !known.Dropped {
			return known.Value, !known.Deleted, nil
		}
	} else if fetched := r.fetched.Load(); fetched != nil {
		if known, ok := (*fetched)[string(addr)]; ok {
			return known.Value, !known.Deleted, nil
		}
	}

	key, _ := keys.Key(addr)
	if err := r.yield(key); err != nil {
		return nil, false, err
	}
	get := &step{statement: getRow, params: [][]byte{key}, row: func(columns [][]byte) {
		value = append(make([]byte, 0, len(columns[0])), columns[0]...)
	}}
	if err := r.read(get); err != nil {
		return nil, false, err
	}
	if r.changes != nil {
		r.changes.Remember(remote.Row{Addr: addr, Value: value, Deleted: get.rows == 0})
	}
	return value, get.rows > 0, nil
}

// Prefetch reads the rows at addresses in one round trip, so that Get answers from memory. A View keeps the rows
// until the next Prefetch. An Update keeps them to its end, unless their total size is too large. Prefetch implements
// [capability.Prefetcher].
func (r *reader) Prefetch(addrs [][]byte) error {
	if err := r.Err(); err != nil {
		return err
	}

	var gets []*step
	var found []remote.Row
	for _, addr := range addrs {
		if r.changes != nil {
			space, _, _, _ := address.Parse(addr, nil)
			if _, known := r.changes.Get(space, addr); known {
				continue
			}
		}
		key, _ := keys.Key(addr)
		if err := r.yield(key); err != nil {
			return err
		}
		i := len(found)
		found = append(found, remote.Row{Addr: addr})
		gets = append(gets, &step{statement: getRow, params: [][]byte{key}, row: func(columns [][]byte) {
			found[i].Value = append(make([]byte, 0, len(columns[0])), columns[0]...)
		}})
	}
	if len(gets) == 0 {
		return nil
	}
	if err := r.read(gets...); err != nil {
		return err
	}

	fetched := make(map[string]remote.Row, len(found))
	for i, read := range found {
		read.Deleted = gets[i].rows == 0
		if r.changes != nil {
			r.changes.Remember(read)
		} else {
			fetched[string(read.Addr)] = read
		}
	}

	if r.changes == nil {
		r.fetched.Store(&fetched)
	}
	return nil
}

// Query implements [store.Reader].
func (r *reader) Query(space store.Space, partition []byte, rng store.Range, reverse bool) iter.Seq2[store.Row, error] {
	return remote.Query(r, r.changes, space, partition, rng, reverse)
}

// Scan implements [store.Reader].
func (r *reader) Scan(space store.Space, s store.Span) iter.Seq2[store.Row, error] {
	return remote.Scan(r, r.changes, space, s)
}

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

// Keys implements [remote.Source].
func (r *reader) Keys() *remote.Keys { return &keys }

// Chunk implements [remote.Source].
func (r *reader) Chunk(lo, hi []byte, limit int, reverse bool) (found [][]byte, rows []remote.Row, err error) {
	query := &step{statement: queryForward, params: [][]byte{lo, hi, int8Param(limit)}}
	if reverse {
		query.statement = queryReverse
	}
	query.row = func(columns [][]byte) {
		n := len(columns[0]) + len(columns[2])
		both := make([]byte, 0, n)
		both = append(append(both, columns[0]...), columns[2]...)
		key := both[:len(columns[0]):len(columns[0])]
		found = append(found, key)
		rows = append(rows, remote.Row{Addr: keys.Addr(key, columns[1]), Value: both[len(key):n:n]})
	}
	err = r.read(query)
	return found, rows, err
}
