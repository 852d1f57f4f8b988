package table

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/store"
)

// The garbage partition of the catalogue lists spaces that belong to no
// definition any more and may still hold rows. The update that removes the
// definition lists its space, and the last one that clears the space removes it from
// the list. If the value has 8 bytes, it is the space whose lease the filler of this
// one holds.
var garbagePartition = []byte("garbage")

func garbageRow(space store.Space) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(space))
}

// Recovered reports whether [DB.Recover] would find nothing to do.
func (db *DB) Recovered() bool {
	return db.exact.Load() && !db.garbage.Load() && len(db.unbuilt()) == 0
}

// Recover completes the work that a crash, or the end of the process,
// interrupted: it deletes the rows of removed indexes, fills the indexes being
// built and opens them for reading, and counts the items of tables when the
// counters are not exact. Reads, writes and changes of tables continue
// meanwhile. It can be interrupted at any point and called again.
//
// On a read-only store it only counts, and indexes being built stay unreadable.
//
// In a shared store it leaves alone what another server works on, and the counters: see
// [DB.Tend].
func (db *DB) Recover(ctx context.Context) error {
	if err := db.recovering.take(ctx, db); err != nil {
		return err
	}
	defer db.recovering.leave()
	err := db.clearGarbage(ctx)
	if err == nil {
		err = db.resume(ctx)
	}
	if err != nil && !errors.Is(err, store.ErrReadOnly) {
		return err
	}
	if db.sharing != nil {
		return nil
	}
	return db.recount(ctx)
}

// clearGarbage clears the spaces that the catalogue lists.
func (db *DB) clearGarbage(ctx context.Context) error {
	if db.sharing == nil { // otherwise an update that uses such a space fails
		// A running Alter may have listed a space whose definition is still in force.
		if err := db.alter.take(ctx, db); err != nil {
			return err
		}
		defer db.alter.leave()
	}
	type garbage struct{ space, lead store.Space }
	var list []garbage
	err := db.store.View(ctx, func(r store.Reader) error {
		for row, err := range r.Query(catalogueSpace, garbagePartition, store.Range{}, false) {
			if err != nil {
				return err
			}
			g := garbage{space: store.Space(binary.BigEndian.Uint64(row.Sort))}
			if db.sharing == nil && db.transfers.isFilling(g.space) {
				continue
			}
			if g.lead = g.space; len(row.Value) == 8 {
				g.lead = store.Space(binary.BigEndian.Uint64(row.Value))
			}
			list = append(list, g)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, g := range list {
		// In a shared store, somebody who fills a space has the lease.
		if _, err := db.alone(ctx, g.lead, func(ctx context.Context) error { return db.clear(ctx, g.space) }); err != nil {
			return err
		}
	}
	db.garbage.Store(false)
	return nil
}

// drop removes the rows of spaces that the update takes out of use. If the store limits what
// an update can delete, drop only lists them, and returns them for clearDropped after it.
func (db *DB) drop(w store.Writer, spaces ...store.Space) (listed []store.Space, err error) {
	if _, limited := db.store.(store.ClearLimiter); limited {
		return spaces, list(w, spaces...)
	}
	for _, space := range spaces {
		if err := w.Clear(space); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// list adds spaces to the garbage.
func list(w store.Writer, spaces ...store.Space) error {
	for _, space := range spaces {
		if err := w.Put(catalogueSpace, garbagePartition, garbageRow(space), []byte{1}); err != nil {
			return err
		}
	}
	return nil
}

// clearDropped removes the rows of spaces that drop has listed. It ignores the end of ctx,
// and leaves work that the store refuses to [DB.Recover]: the spaces are not in use.
func (db *DB) clearDropped(ctx context.Context, spaces []store.Space) {
	for _, space := range spaces {
		if db.clear(context.WithoutCancel(ctx), space) != nil {
			db.garbage.Store(true)
		}
	}
}

// clear removes the rows of a space that is listed, and the space from the list.
func (db *DB) clear(ctx context.Context, space store.Space) error {
	rest := store.Everything()
	for {
		var last *store.Position
		err := db.change(ctx, func(w store.Writer) error {
			last = nil
			_, listed, err := w.Get(catalogueSpace, garbagePartition, garbageRow(space))
			if err != nil || !listed { // another server has cleared it, or put it in use
				return err
			}
			if limited, ok := db.store.(store.ClearLimiter); ok {
				last, err = deleteSome(w, space, rest, limited.ClearLimit())
			} else {
				err = w.Clear(space)
			}
			if err != nil || last != nil {
				return err
			}
			return w.Delete(catalogueSpace, garbagePartition, garbageRow(space))
		})
		if err != nil || last == nil {
			return err
		}
		rest.After = last
	}
}

// deleteSome deletes the first rows of a part of a space, up to limit. It returns the
// position of the last of them, or nil if there may be no more.
func deleteSome(w store.Writer, space store.Space, part store.Span, limit int) (last *store.Position, err error) {
	deleted := 0
	for row, err := range w.Scan(space, part) {
		if err != nil {
			return nil, err
		}
		if err := w.Delete(space, row.Partition, row.Sort); err != nil {
			return nil, err
		}
		if deleted++; deleted == limit {
			return &store.Position{Partition: slices.Clone(row.Partition), Sort: slices.Clone(row.Sort)}, nil
		}
	}
	return nil, nil
}

// An unbuilt is an index being built.
type unbuilt struct {
	table string
	space store.Space
}

// unbuilt returns the indexes being built, in a stable order.
func (db *DB) unbuilt() (list []unbuilt) {
	for name, t := range db.tables.Load().byName {
		for _, ix := range t.all {
			if ix.def.Building {
				list = append(list, unbuilt{name, ix.def.Space})
			}
		}
	}
	slices.SortFunc(list, func(a, b unbuilt) int { return cmp.Compare(a.space, b.space) })
	return list
}

// resume completes the indexes being built. Tables can be created, changed and
// deleted meanwhile.
func (db *DB) resume(ctx context.Context) error {
	for _, u := range db.unbuilt() {
		_, err := db.alone(ctx, u.space, func(ctx context.Context) error {
			if err := db.build(ctx, u.table, u.space); err != nil {
				return err
			}
			if db.sharing == nil { // otherwise the version of the catalogue keeps changes apart
				if err := db.alter.take(ctx, db); err != nil {
					return err
				}
				defer db.alter.leave()
			}
			return db.finish(ctx, u.table, u.space)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// complete builds the index in a space, or waits until another server has built it or its
// table is gone. Only the waiting ends with ctx. If the store is not shared, the caller
// holds db.alter.
func (db *DB) complete(ctx context.Context, name string, space store.Space) error {
	var wait *time.Ticker
	for {
		done, err := db.alone(context.WithoutCancel(ctx), space, func(ctx context.Context) error {
			if err := db.build(ctx, name, space); err != nil {
				return err
			}
			return db.finish(ctx, name, space)
		})
		if done || err != nil {
			return err
		}
		if err := db.Refresh(ctx); err != nil {
			return err
		}
		if _, ix := db.tables.Load().building(name, space); ix == nil {
			return nil
		}
		if wait == nil {
			wait = time.NewTicker(completeWait)
			defer wait.Stop()
		}
		select {
		case <-wait.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// completeWait is the time between two looks at an index that another server builds.
const completeWait = 50 * time.Millisecond

// buildRowsShared is how many items are added to a new index in one update of a shared
// store, where an update that reads much loses to the writers of other servers. In
// others it is the limit of a [Batch].
const buildRowsShared = 50

// build fills the index in a space from the items of its table. Its definition is
// in force, so every write maintains the index; build adds the older items and
// skips those that an interrupted build has added.
func (db *DB) build(ctx context.Context, name string, space store.Space) error {
	span := store.Everything()
	var list entryList
	for {
		after, err := db.buildSome(ctx, name, space, span, &list)
		again, err := db.outdated(ctx, err)
		switch {
		case again:
			continue
		case err != nil || after == nil:
			return err
		}
		span.After = after
	}
}

// buildSome adds the first items of a span to an index. It returns where it
// stopped; nil at the end, or if the index is not being built any more.
func (db *DB) buildSome(
	ctx context.Context, name string, space store.Space, span store.Span, list *entryList,
) (after *store.Position, err error) {
	if err := db.enter(ctx); err != nil { // keeps the table as it is until the entries are counted
		return nil, err
	}
	defer db.leave()
	all := db.tables.Load()
	t, ix := all.building(name, space)
	if ix == nil {
		return nil, nil
	}
	var items, bytes int
	err = db.update(ctx, new(turn), all.rows, func(w store.Writer) error {
		items, bytes, after = 0, 0, nil
		list.reset()
		var size Batch
		if db.sharing != nil {
			size.Rows = buildRowsShared
		}
		for row, err := range w.Scan(t.def.Space, span) {
			if err != nil {
				return err
			}
			if size.Add(list.add(ix, itemOf(row.Value))) {
				after = &store.Position{Partition: slices.Clone(row.Partition), Sort: slices.Clone(row.Sort)}
				break
			}
		}
		if p, ok := w.(store.Prefetcher); ok {
			var addrs [][]byte
			for _, e := range list.entries {
				addrs = append(addrs, store.AppendAddress(nil, space, e.partition, e.sort))
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
			items++
			bytes += e.value.Size() + storageOverhead
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	ix.stats.add(items, bytes)
	return after, nil
}

// An entryList holds the entries that one update adds to an index. A large index is built while
// others read, and garbage would slow them down, so the next update uses the memory again.
type entryList struct {
	entries []entry
	keys    []byte // of the entries
	scratch entry
}

// reset empties the list.
func (l *entryList) reset() { l.entries, l.keys = l.entries[:0], l.keys[:0] }

// add adds the entry of an item, if the index has one. It returns the length of its value.
func (l *entryList) add(ix *Index, it attr.Item) int {
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
func (l *entryList) key(k []byte) []byte {
	from := len(l.keys)
	l.keys = append(l.keys, k...)
	return l.keys[from:]
}

// building returns the index in a space if it is still being built.
func (all *tables) building(name string, space store.Space) (*Table, *Index) {
	if t := all.byName[name]; t != nil {
		for _, ix := range t.all {
			if ix.def.Space == space && ix.def.Building {
				return t, ix
			}
		}
	}
	return nil, nil
}

// finish opens a filled index for reading, unless it is gone. If the store is not shared,
// the caller holds db.alter.
func (db *DB) finish(ctx context.Context, name string, space store.Space) error {
	return db.current(ctx, func() error { return db.finishIndex(ctx, name, space) })
}

func (db *DB) finishIndex(ctx context.Context, name string, space store.Space) error {
	t, err := db.Describe(ctx, name)
	if err != nil {
		return nil //nolint:nilerr // deleted meanwhile
	}
	def := t.def.clone()
	for _, ix := range def.online() {
		if ix.Space == space && ix.Building {
			ix.Building = false
			_, err := db.redefine(ctx, def, t, nil)
			return err
		}
	}
	return nil
}
