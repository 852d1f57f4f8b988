package table

import (
	"context"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

// fillRowsShared is how many items are added to a new index in one update of a shared
// store, where an update that reads much loses to the writers of other servers. In
// others it is the limit of a [Batch].
const fillRowsShared = 50

// FillIndex adds the first items of a span to an index that is being built, in one update, and
// skips those that it has. It returns where it stopped; nil at the end, or if the index is not
// being built any more. The list is for FillIndex alone, which uses its memory again.
func (db *DB) FillIndex(
	ctx context.Context, name string, space store.Space, span store.Span, list *EntryList,
) (after *store.Position, err error) {
	if err := db.Updates.RLock(ctx); err != nil { // keeps the table as it is until the entries are counted
		return nil, err
	}
	defer db.Updates.RUnlock()
	all := db.Current()
	tb, ix := all.Building(name, space)
	if ix == nil {
		return nil, nil
	}
	var items, bytes, examined int
	if span.After == nil { // the building begins, perhaps again
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

// An EntryList holds the entries that one update adds to an index. A large index is built while
// others read, and garbage would slow them down, so the next update uses the memory again.
type EntryList struct {
	entries []entry
	keys    []byte // of the entries
	scratch entry
}

// reset empties the list.
func (l *EntryList) reset() { l.entries, l.keys = l.entries[:0], l.keys[:0] }

// add adds the entry of an item, if the index has one. It returns the length of its value.
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

// Building returns the index in a space if it is still being built.
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
