package table

import (
	"context"
	"slices"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

// fillRowsShared is the maximum number of items that one update adds to a new index in a shared store. There, an
// update that reads many rows often conflicts with updates of other servers. In other stores an update adds one
// [Batch].
const fillRowsShared = 50

// FillIndex adds the entries of the first items of a span to an index that is being built, in one update. It skips
// entries that exist already. It returns the position of the last item that it read, or nil if it has reached the end
// of the span or the index is no longer being built.
func (db *DB) FillIndex(
	ctx context.Context, name string, space store.Space, span store.Span,
) (after *store.Position, err error) {
	// hold the lock until the new entries are counted, so that no definition changes meanwhile
	if err := db.Updates.RLock(ctx); err != nil {
		return nil, err
	}
	defer db.Updates.RUnlock()
	all := db.Current()
	tb, ix := all.Building(name, space)
	if ix == nil {
		return nil, nil
	}
	var items, bytes, examined int
	if span.After == nil { // the build starts or restarts
		ix.stats.Examined.Store(0)
	}
	err = db.update(ctx, all.Rows, func(w store.Writer) error {
		items, bytes, examined, after = 0, 0, 0, nil
		var e entry
		var list []entry
		var keys []byte // memory of the keys in list
		keep := func(key []byte) []byte {
			from := len(keys)
			keys = append(keys, key...)
			return keys[from:]
		}
		var size Batch
		if db.sharing != nil {
			size.Rows = fillRowsShared
		}
		work := db.Work(false)
		defer work.Done()
		for row, err := range w.Scan(tb.def.Space, span) {
			if err != nil {
				return err
			}
			examined++
			if err := work.Add(ctx, len(row.Value)); err != nil {
				return err
			}
			item, err := wholeItem(tb, row)
			if err != nil {
				return err
			}
			length := 0
			if e.make(ix, item) {
				list = append(list, entry{
					partition: keep(e.partition), sort: keep(e.sort), value: slices.Clone(e.value),
				})
				length = len(e.value)
			}
			if size.Add(length) {
				after = PositionOf(row)
				break
			}
		}

		if p, ok := w.(capability.Prefetcher); ok {
			var addrs [][]byte
			for _, e := range list {
				addrs = append(addrs, address.Append(nil, space, e.partition, e.sort))
			}
			if err := p.Prefetch(addrs); err != nil {
				return err
			}
		}

		for _, e := range list {
			if _, exists, err := w.Get(space, e.partition, e.sort); err != nil {
				return err
			} else if exists {
				continue
			}
			if err := w.Put(space, e.partition, e.sort, e.value); err != nil {
				return err
			}
			if err := work.Add(ctx, len(e.value)); err != nil {
				return err
			}
			items++
			bytes += e.value.Size() + StorageOverhead
		}

		return nil
	})
	if err != nil {
		return nil, err
	}

	ix.stats.Add(items, bytes)
	ix.stats.Examined.Add(int64(examined))
	return after, nil
}

// PositionOf returns a copy of the position of a row.
func PositionOf(row store.Row) *store.Position {
	return &store.Position{Partition: slices.Clone(row.Partition), Sort: slices.Clone(row.Sort)}
}

// Building returns the index of the table called name that has the given space, if it is still being built, or nil.
func (all *Set) Building(name string, space store.Space) (*Table, *Index) {
	if t := all.ByName[name]; t != nil {
		for _, ix := range t.all {
			if ix.def.Space == space && ix.def.Building {
				return t, ix
			}
		}
	}
	return nil, nil
}
