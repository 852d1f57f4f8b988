package layer

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

var errMissing = errors.New("a row is missing")

// A treeLayer is a bare B-tree in memory. Keys and values are ready, so it is
// the least that any engine over such a tree can take.
type treeLayer struct {
	data   *Data
	locked bool // some write while others read, which the tree alone does not allow
	mu     sync.RWMutex
}

// Close implements [Layer].
func (*treeLayer) Close() error { return nil }

func (l *treeLayer) lock(write bool) func() {
	switch {
	case !l.locked:
		return func() {}
	case write:
		l.mu.Lock()
		return l.mu.Unlock
	}
	l.mu.RLock()
	return l.mu.RUnlock
}

// Prepare implements [Layer].
func (l *treeLayer) Prepare(ctx context.Context, c *work.Call) (measure.Op, error) {
	p, err := l.data.plan(ctx, c)
	if err != nil {
		return nil, err
	}
	tree := l.data.tree
	switch c.Op {
	case work.Query, work.Scan:
		lo, hi := p.addresses()
		return func(_ context.Context, s *measure.Scratch) (rows, size int, err error) {
			defer l.lock(false)()
			visit := func(x pair) bool {
				rows++
				size += len(x.value)
				s.Sum ^= Touch(x.value)
				return rows < p.examined
			}
			if p.examined == 0 { // nothing is there: a search is all there is to do
				tree.Get(pair{key: lo})
			} else if p.call.Range.Reverse {
				tree.DescendLessOrEqual(pair{key: hi}, func(x pair) bool {
					return rows == 0 && bytes.Equal(x.key, hi) || visit(x)
				})
			} else {
				// The number of rows ends it: AscendRange compares each key with
				// hi, which a walk need not do.
				tree.AscendGreaterOrEqual(pair{key: lo}, visit)
			}
			if rows != p.examined {
				return 0, 0, errMissing
			}
			return p.returned, size, nil
		}, nil
	case work.Get, work.TransactGet:
		keys := addresses(p.puts[:len(c.Items)])
		return func(_ context.Context, s *measure.Scratch) (rows, size int, err error) {
			defer l.lock(false)()
			for _, key := range keys {
				x, ok := tree.Get(pair{key: key})
				if !ok {
					return 0, 0, errMissing
				}
				s.Sum ^= Touch(x.value)
				size += len(x.value)
			}
			return c.Want, size, nil
		}, nil
	default:
		puts, drops := addresses(p.puts), addresses(p.drops)
		return func(_ context.Context, s *measure.Scratch) (rows, size int, err error) {
			defer l.lock(true)()
			if c.Op == work.Update { // reads what it changes
				x, _ := tree.Get(pair{key: puts[0]})
				s.Sum ^= Touch(x.value)
			}
			for _, key := range drops {
				tree.Delete(pair{key: key})
			}
			for i, key := range puts {
				tree.ReplaceOrInsert(pair{key, p.puts[i].value})
				size += len(p.puts[i].value)
			}
			return c.Want, size, nil
		}, nil
	}
}

func addresses(rows []row) (keys [][]byte) {
	for _, r := range rows {
		keys = append(keys, r.address())
	}
	return keys
}

// A pebbleLayer is Pebble alone, with iterators of the same bounds and batches
// that are synced.
type pebbleLayer struct{ data *Data }

// Close implements [Layer].
func (*pebbleLayer) Close() error { return nil }

// Prepare implements [Layer].
func (l *pebbleLayer) Prepare(ctx context.Context, c *work.Call) (measure.Op, error) {
	p, err := l.data.plan(ctx, c)
	if err != nil {
		return nil, err
	}
	db := l.data.pebble
	switch c.Op {
	case work.Query, work.Scan:
		lo, hi := p.addresses()
		return func(_ context.Context, s *measure.Scratch) (rows, size int, err error) {
			it, err := db.NewIter(&pebble.IterOptions{LowerBound: lo, UpperBound: hi})
			if err != nil {
				return 0, 0, err
			}
			first, next := it.First, it.Next
			if p.call.Range.Reverse {
				first, next = it.Last, it.Prev
			}
			for ok := first(); ok; ok = next() {
				rows++
				value := it.Value()
				size += len(value)
				s.Sum ^= Touch(value)
				if rows == p.examined {
					break
				}
			}
			if err := it.Close(); err != nil {
				return 0, 0, err
			}
			if rows != p.examined {
				return 0, 0, errMissing
			}
			return p.returned, size, nil
		}, nil
	case work.Get, work.TransactGet:
		keys := addresses(p.puts[:len(c.Items)])
		return func(_ context.Context, s *measure.Scratch) (rows, size int, err error) {
			for _, key := range keys {
				n, err := l.get(key, s)
				if err != nil {
					return 0, 0, err
				}
				size += n
			}
			return c.Want, size, nil
		}, nil
	default:
		puts, drops := addresses(p.puts), addresses(p.drops)
		return func(_ context.Context, s *measure.Scratch) (rows, size int, err error) {
			if c.Op == work.Update {
				if _, err := l.get(puts[0], s); err != nil {
					return 0, 0, err
				}
			}
			b := db.NewBatch()
			defer b.Close()
			for _, key := range drops {
				if err := b.Delete(key, nil); err != nil {
					return 0, 0, err
				}
			}
			for i, key := range puts {
				if err := b.Set(key, p.puts[i].value, nil); err != nil {
					return 0, 0, err
				}
				size += len(p.puts[i].value)
			}
			return c.Want, size, b.Commit(pebble.Sync)
		}, nil
	}
}

func (l *pebbleLayer) get(key []byte, s *measure.Scratch) (size int, err error) {
	value, c, err := l.data.pebble.Get(key)
	if err != nil {
		return 0, err
	}
	s.Sum ^= Touch(value)
	return len(value), c.Close()
}
