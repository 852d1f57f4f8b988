package postgres

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/sortkey/sortkey/store"
)

// A reader reads a snapshot, or a transaction and the changes of its writer.
type reader struct {
	session
	changes *changes // nil in a View
}

// A row is a row of the database or a change of one.
type row struct {
	addr, value []byte
	deleted     bool // or did not exist, of a row that was read
	dropped     bool // read, but value is not kept
	lock        bool // not changed: only to be locked
}

// Reads fetch rows in chunks. The first is small, because most callers want a few
// rows; each is larger than the one before, up to maxChunk rows or about
// chunkBytes.
const (
	firstChunk = 16
	growth     = 8
	maxChunk   = store.ContextRows
	chunkBytes = 1 << 20
)

// cachedBytes limits the rows that an Update keeps after it has read them. A
// conditional write reads its row twice.
const cachedBytes = 4 << 20

// Get implements [store.Reader]. The caller owns the value.
func (r *reader) Get(space store.Space, partition, sort []byte) (value []byte, ok bool, err error) {
	if r.done.Load() {
		return nil, false, store.ErrClosed
	}
	addr := store.AppendAddress(nil, space, partition, sort)
	if r.changes != nil {
		if c, ok := r.changes.get(space, addr); ok {
			return c.value, !c.deleted, nil
		}
	}
	key, _ := keyOf(addr)
	get := &step{statement: getRow, params: [][]byte{key}, row: func(columns [][]byte) {
		value = append(make([]byte, 0, len(columns[0])), columns[0]...)
	}}
	if err := r.read(get); err != nil {
		return nil, false, err
	}
	if r.changes != nil {
		r.changes.remember(row{addr: addr, value: value, deleted: get.rows == 0})
	}
	return value, get.rows > 0, nil
}

// Query implements [store.Reader].
func (r *reader) Query(space store.Space, partition []byte, rng store.Range, reverse bool) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		lo, hi := store.AppendRange(nil, nil, space, partition, rng)
		at := len(lo) - len(rng.Lo)
		r.walk(space, lo, hi, reverse, func(found row, err error) bool {
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
		r.walk(space, lo, hi, false, func(found row, err error) bool {
			if err != nil {
				return yield(store.Row{}, err)
			}
			_, partition, sort, ok := store.ParseAddress(found.addr, nil)
			if !ok {
				yield(store.Row{}, fmt.Errorf("postgres: damaged table sortkey_rows: %x is not an address", found.addr))
				return false
			}
			return yield(store.Row{Partition: partition, Sort: sort, Value: found.value}, nil)
		})
	}
}

// walk yields the rows of a space with addresses in [lo, hi), where a nil hi is no
// bound. An error comes last.
func (r *reader) walk(space store.Space, lo, hi []byte, reverse bool, yield func(row, error) bool) {
	switch {
	case r.done.Load():
		yield(row{}, store.ErrClosed)
		return
	case r.ctx.Err() != nil:
		yield(row{}, context.Cause(r.ctx))
		return
	case hi != nil && bytes.Compare(lo, hi) >= 0:
		return
	}
	stored := r.stored(lo, hi, reverse)
	if r.changes != nil {
		changed := r.changes.within(lo, hi, reverse)
		if r.changes.cleared[space] {
			stored = func(func(row, error) bool) {}
		}
		if len(changed) > 0 {
			stored = merge(stored, changed, reverse)
		}
	}
	n := 0
	for found, err := range stored {
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

// stored returns the rows of the database with addresses in [lo, hi).
func (r *reader) stored(lo, hi []byte, reverse bool) iter.Seq2[row, error] {
	return func(yield func(row, error) bool) {
		from, to := lowKey(lo), highKey(hi)
		var b bucket
		flush := func() bool {
			for _, found := range b.take(reverse) {
				if within(found.addr, lo, hi) && !yield(found, nil) {
					return false
				}
			}
			return true
		}
		for limit := firstChunk; ; {
			keys, rows, size, err := r.chunk(from, to, limit, reverse)
			if err != nil {
				yield(row{}, err)
				return
			}
			for i, key := range keys {
				if !b.has(key) && !flush() {
					return
				}
				if len(key) > maxKey {
					b.head, b.rows = key[:maxKey], append(b.rows, rows[i])
				} else if !yield(rows[i], nil) {
					return
				}
			}
			if len(rows) < limit {
				flush()
				return
			}
			if end := keys[len(keys)-1]; reverse {
				to = end
			} else {
				from = append(end[:len(end):len(end)], 0)
			}
			limit = min(limit*growth, maxChunk, max(1, chunkBytes/(size/len(rows)+1)))
		}
	}
}

// chunk fetches at most limit rows with keys in [from, to), and the number of their
// bytes.
func (r *reader) chunk(from, to []byte, limit int, reverse bool) (keys [][]byte, rows []row, size int, err error) {
	query := &step{statement: queryForward, params: [][]byte{from, to, int8Param(limit)}}
	if reverse {
		query.statement = queryReverse
	}
	query.row = func(columns [][]byte) {
		n := len(columns[0]) + len(columns[2])
		both := make([]byte, 0, n)
		both = append(append(both, columns[0]...), columns[2]...)
		key := both[:len(columns[0]):len(columns[0])]
		keys = append(keys, key)
		rows = append(rows, row{addr: addressOf(key, columns[1]), value: both[len(key):n:n]})
		size += n + len(columns[1])
	}
	err = r.read(query)
	return keys, rows, size, err
}

// merge returns stored rows with the changes applied to them.
func merge(stored iter.Seq2[row, error], changed []row, reverse bool) iter.Seq2[row, error] {
	before := func(x, y []byte) bool {
		if reverse {
			x, y = y, x
		}
		return bytes.Compare(x, y) < 0
	}
	return func(yield func(row, error) bool) {
		// next yields the changes before an address, or all of them.
		next := func(addr []byte) bool {
			for len(changed) > 0 && (addr == nil || before(changed[0].addr, addr)) {
				c := changed[0]
				if changed = changed[1:]; !c.deleted && !yield(c, nil) {
					return false
				}
			}
			return true
		}
		for found, err := range stored {
			if err != nil {
				yield(row{}, err)
				return
			}
			if !next(found.addr) {
				return
			}
			if len(changed) > 0 && bytes.Equal(changed[0].addr, found.addr) {
				found, changed = changed[0], changed[1:]
				if found.deleted {
					continue
				}
			}
			if !yield(found, nil) {
				return
			}
		}
		next(nil)
	}
}
