package table

import (
	"context"
	"slices"

	"github.com/sortkey/sortkey/attr"
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
// of the span or the index is no longer being built. FillIndex reuses the memory of list, so nothing else may use
// list.
func (db *DB) FillIndex(
	ctx context.Context, name string, space store.Space, span store.Span, list *EntryList,
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
		list.reset()
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
			if size.Add(list.add(ix, itemOf(row.Value))) {
				after = &store.Position{Partition: slices.Clone(row.Partition), Sort: slices.Clone(row.Sort)}
				break
			}
		}

		if p, ok := w.(capability.Prefetcher); ok {
			var addrs [][]byte
			for _, e := range list.entries {
				addrs = append(addrs, address.Append(nil, space, e.partition, e.sort))
			}
			if err := p.Prefetch(addrs); err != nil {
				return err
			}
		}

		for _, e := range list.entries {
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

// An EntryList holds the index entries that one update adds. Updates of the same build reuse its memory. Otherwise
// the garbage collector would slow down other requests while a large index is built.
type EntryList struct {
	entries []entry
	keys    []byte // memory of the entries' keys
	scratch entry
}

// reset empties the list.
func (l *EntryList) reset() { l.entries, l.keys = l.entries[:0], l.keys[:0] }

// add adds the index entry of an item and returns the length of its value, or 0 if the item has no entry.
func (l *EntryList) add(ix *Index, it attr.Item) int {
	e := &l.scratch
	if !e.make(ix, it) {
		return 0
	}
	l.entries = append(l.entries, entry{
		partition: l.key(e.partition), sort: l.key(e.sort), value: slices.Clone(e.value),
	})
	return len(e.value)
}

// key returns a copy of a key.
func (l *EntryList) key(k []byte) []byte {
	from := len(l.keys)
	l.keys = append(l.keys, k...)
	return l.keys[from:]
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
