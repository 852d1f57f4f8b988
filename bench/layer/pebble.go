package layer

import (
	"context"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/sortkey/sortkey/bench/measure"
	"github.com/sortkey/sortkey/bench/work"
)

// A barePebble is Pebble alone: iterators with the same bounds, and batches
// that are synced.
type barePebble struct{ db *pebble.DB }

// openPebble opens Pebble with the options of store/disk.
func openPebble(dir string) (*pebble.DB, error) {
	o := &pebble.Options{
		CacheSize:          64 << 20,
		MemTableSize:       16 << 20,
		FormatMajorVersion: pebble.FormatValueSeparation,
		Logger:             quiet{},
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	return pebble.Open(dir, o)
}

// quiet is a logger that discards everything.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(string, ...any) {}

func (b barePebble) read(_ context.Context, p *plan, s *measure.Scratch) (rows, size int, err error) {
	it, err := b.db.NewIter(&pebble.IterOptions{LowerBound: p.lo, UpperBound: p.hi})
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
		s.Sum ^= touch(value)
		if rows == p.examined {
			break
		}
	}
	return rows, size, it.Close()
}

func (b barePebble) get(_ context.Context, p *plan, s *measure.Scratch) (size int, err error) {
	for i := range p.gets {
		value, c, err := b.db.Get(p.gets[i].address)
		if err != nil {
			return 0, err
		}
		s.Sum ^= touch(value)
		size += len(value)
		if err := c.Close(); err != nil {
			return 0, err
		}
	}
	return size, nil
}

func (b barePebble) write(ctx context.Context, p *plan, s *measure.Scratch) (size int, err error) {
	if p.call.Op == work.Update { // an update reads the row that it changes
		if _, err := b.get(ctx, p, s); err != nil {
			return 0, err
		}
	}
	batch := b.db.NewBatch()
	defer batch.Close()
	for i := range p.drops {
		if err := batch.Delete(p.drops[i].address, nil); err != nil {
			return 0, err
		}
	}
	for i := range p.puts {
		if err := batch.Set(p.puts[i].address, p.puts[i].value, nil); err != nil {
			return 0, err
		}
		size += len(p.puts[i].value)
	}
	return size, batch.Commit(pebble.Sync)
}
