package remote

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

// Query and Scan fetch rows in chunks. The first chunk is small, because most callers want a few rows. Each further
// chunk is larger than the one before, up to maxChunk rows or about chunkBytes.
const (
	firstChunk = 16
	growth     = 8
	maxChunk   = capability.ContextRows
	chunkBytes = 1 << 20
)

// A Source reads the rows of one state of a database.
type Source interface {
	// Err returns why nothing can be read any more, or nil.
	Err() error

	// Keys returns the [Keys] that the database uses.
	Keys() *Keys

	// Chunk returns at most limit rows whose keys are in [lo, hi), and their keys: the first ones or, if reverse, the
	// last ones in descending order. If it returns fewer than limit, there are no more.
	Chunk(lo, hi []byte, limit int, reverse bool) (keys [][]byte, rows []Row, err error)
}

// Query implements Query of [store.Reader] over src; c is nil in a View.
func Query(
	src Source, c *Changes, space store.Space, partition []byte, rng store.Range, reverse bool,
) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		lo, hi := address.AppendRange(nil, nil, space, partition, rng)
		at := len(lo) - len(rng.Lo)
		walk(src, c, space, lo, hi, reverse, func(found Row, err error) bool {
			if err != nil {
				return yield(store.Row{}, err)
			}
			return yield(store.Row{Sort: found.Addr[at:len(found.Addr):len(found.Addr)], Value: found.Value}, nil)
		})
	}
}

// Scan implements Scan of [store.Reader] over src; c is nil in a View.
func Scan(src Source, c *Changes, space store.Space, s store.Span) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		lo, hi := address.AppendSpan(nil, nil, space, s)
		walk(src, c, space, lo, hi, false, func(found Row, err error) bool {
			if err != nil {
				return yield(store.Row{}, err)
			}
			_, partition, sort, ok := address.Parse(found.Addr, nil)
			if !ok {
				yield(store.Row{}, fmt.Errorf("damaged row: %x is not an address", found.Addr))
				return false
			}
			return yield(store.Row{Partition: partition, Sort: sort, Value: found.Value}, nil)
		})
	}
}

// walk yields the rows of a space with addresses in [lo, hi), where a nil hi means no bound. An error comes last.
func walk(src Source, c *Changes, space store.Space, lo, hi []byte, reverse bool, yield func(Row, error) bool) {
	if err := src.Err(); err != nil {
		yield(Row{}, err)
		return
	}
	if hi != nil && bytes.Compare(lo, hi) >= 0 {
		return
	}
	rows := stored(src, lo, hi, reverse)
	if c != nil {
		rows = c.over(rows, space, lo, hi, reverse)
	}
	for found, err := range rows {
		if !yield(found, err) || err != nil {
			return
		}
		if err := src.Err(); err != nil {
			yield(Row{}, err)
			return
		}
	}
}

// stored returns the rows of the database with addresses in [lo, hi).
func stored(src Source, lo, hi []byte, reverse bool) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		keys := src.Keys()
		from, to := keys.Low(lo), keys.High(hi)
		var b bucket
		flush := func() bool {
			for _, found := range b.take(reverse) {
				if within(found.Addr, lo, hi) && !yield(found, nil) {
					return false
				}
			}
			return true
		}

		for limit := firstChunk; ; {
			chunk, rows, err := src.Chunk(from, to, limit, reverse)
			if err != nil {
				yield(Row{}, err)
				return
			}

			size := 0
			for i, key := range chunk {
				head := keys.head(key)
				if !b.has(head) && !flush() {
					return
				}
				size += len(rows[i].Addr) + len(rows[i].Value)
				if head != nil {
					b.head, b.rows = head, append(b.rows, rows[i])
				} else if !yield(rows[i], nil) {
					return
				}
			}

			if len(rows) < limit {
				flush()
				return
			}
			if end := chunk[len(chunk)-1]; reverse {
				to = end
			} else {
				from = append(end[:len(end):len(end)], 0)
			}

			limit = min(limit*growth, maxChunk, max(1, chunkBytes/(size/len(rows)+1)))
		}
	}
}
