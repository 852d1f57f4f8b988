package table

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/store"
)

// The counters of items and bytes are in memory. [DB.Close] writes them to the
// catalogue with a mark that they are exact, and the first update after the next
// [Open] removes the mark in the same commit. So opening is cheap and a write
// costs nothing more. A store without the mark, after a crash, starts with the
// figures of the last Close until [DB.Recover] has counted its rows. The service
// updates these figures about every six hours.
// Source: API_TableDescription, ItemCount.
var (
	statisticsRow = []byte("statistics")
	exactRow      = []byte("statistics are exact")
)

// statistics are the stored form of counters: items and bytes by space.
type statistics map[store.Space][2]int64

// A counter is the counters of one space, whose rows have a size.
type counter struct {
	space store.Space
	stats *spaceStats
	size  func(attr.Item) int
}

// counters returns the counters of the table and its indexes, without the indexes being
// built if onlyWhole is set.
func (t *Table) counters(onlyWhole bool) []counter {
	all := []counter{{t.def.Space, t.stats, t.BilledSize}}
	for _, ix := range t.all {
		if !onlyWhole || !ix.def.Building {
			all = append(all, counter{ix.def.Space, ix.stats, attr.Item.Size})
		}
	}
	return all
}

func (s *spaceStats) copyFrom(o *spaceStats) {
	s.items.Store(o.items.Load())
	s.bytes.Store(o.bytes.Load())
}

// billedMark is the value of the mark since tables count vectors as they are billed;
// see [Table.BilledSize].
const billedMark = 2

// readCounters returns the counters in the catalogue, and the value of the mark that
// they are exact, 0 without a mark.
func readCounters(r store.Reader) (stats statistics, mark byte, err error) {
	value, ok, err := r.Get(catalogueSpace, countersPartition, statisticsRow)
	if err != nil {
		return nil, 0, err
	}
	if ok {
		if err := json.Unmarshal(value, &stats); err != nil {
			return nil, 0, err
		}
	}
	value, ok, err = r.Get(catalogueSpace, countersPartition, exactRow)
	if err != nil || !ok || len(value) == 0 {
		return stats, 0, err
	}
	return stats, value[0], nil
}

// writeCounters puts the counters in the catalogue, and the mark if they are
// exact. No update may be running.
func (db *DB) writeCounters(w store.Writer) error {
	stats := statistics{}
	for _, t := range db.tables.Load().byName {
		for _, c := range t.counters(false) {
			stats[c.space] = [2]int64{c.stats.items.Load(), c.stats.bytes.Load()}
		}
	}
	value, err := json.Marshal(stats)
	if err != nil {
		return err
	}
	if err := w.Put(catalogueSpace, countersPartition, statisticsRow, value); err != nil || !db.exact.Load() {
		return err
	}
	return w.Put(catalogueSpace, countersPartition, exactRow, []byte{billedMark})
}

// Close writes the counters of the tables to the store, which stays open. It waits for the
// Updates under way; those that have not begun, and later ones, return [store.ErrClosed], as
// does everything else that waits. Without a Close the next Open has to count again. Closing
// again, or with nothing changed since Open, does nothing. In the function of a transaction of
// db it returns an error of kind [Validation].
func (db *DB) Close(ctx context.Context) error {
	if err := db.Outside(); err != nil {
		return err
	}
	select {
	case <-db.closed:
	default:
		<-db.ended
		return nil
	}
	defer close(db.ended)
	db.kill(store.ErrClosed)
	resume, err := db.pauseUntil(ctx, nil)
	if err != nil {
		return err
	}
	defer resume()
	if db.sharing != nil {
		err := db.closeShared(ctx)
		if errors.Is(err, store.ErrClosed) {
			return nil
		}
		return err
	}
	if db.marked.Load() || db.Temporary {
		return nil
	}
	err = db.store.Update(ctx, db.writeCounters)
	if errors.Is(err, store.ErrReadOnly) || errors.Is(err, store.ErrClosed) {
		return nil
	}
	return err
}

// recount sets the counters from the rows if they are not exact.
func (db *DB) recount(ctx context.Context) error {
	if db.exact.Load() {
		return nil
	}
	return db.countRows(ctx, func(all *tables) (list []counter) {
		for _, t := range all.byName {
			list = append(list, t.counters(true)...) // a build counts its own rows
		}
		return list
	}, func() { db.exact.Store(true) })
}

// rebill sets the counters of a table from its rows, after its vector indexes have
// changed and with them the sizes of its items. In a shared store, whose counters are
// counted by one server, it marks them as inexact.
func (db *DB) rebill(ctx context.Context, name string) error {
	if db.sharing != nil {
		return db.change(ctx, func(w store.Writer) error {
			return w.Put(catalogueSpace, countersPartition, inexactRow, nil)
		})
	}
	return db.countRows(ctx, func(all *tables) []counter {
		t := all.byName[name]
		if t == nil {
			return nil // deleted meanwhile
		}
		return t.counters(true)[:1]
	}, func() {})
}

// countRows sets counters from the rows of one view, then calls done. Updates continue
// meanwhile, and what they add to the counters stays.
func (db *DB) countRows(ctx context.Context, of func(*tables) []counter, done func()) error {
	type count struct {
		counter
		items, bytes int
	}
	resume, err := db.pause(ctx) // the view has to begin between two updates
	if err != nil {
		return err
	}
	defer resume()
	var counts []count
	for _, c := range of(db.tables.Load()) {
		counts = append(counts, count{c, -int(c.stats.items.Load()), -int(c.stats.bytes.Load())})
	}
	err = db.store.View(ctx, func(r store.Reader) error {
		resume()
		for i := range counts {
			c := &counts[i]
			for row, err := range r.Scan(c.space, store.Everything()) {
				if err != nil {
					return err
				}
				c.items++
				c.bytes += c.size(itemOf(row.Value)) + storageOverhead
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := db.enter(ctx); err != nil { // so that Close and Fork see all of it or none
		return err
	}
	defer db.leave()
	for _, c := range counts {
		c.stats.add(c.items, c.bytes)
	}
	done()
	return nil
}
