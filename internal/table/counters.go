package table

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

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

// A counter is the counters of one space.
type counter struct {
	space store.Space
	stats *spaceStats
}

// counters returns those of the table and its indexes, without the indexes being
// built if onlyWhole is set.
func (t *Table) counters(onlyWhole bool) []counter {
	all := []counter{{t.def.Space, t.stats}}
	for _, ix := range t.all {
		if !onlyWhole || !ix.def.Building {
			all = append(all, counter{ix.def.Space, ix.stats})
		}
	}
	return all
}

func (s *spaceStats) copyFrom(o *spaceStats) {
	s.items.Store(o.items.Load())
	s.bytes.Store(o.bytes.Load())
}

// readCounters returns the counters in the catalogue, and whether they are
// exact.
func readCounters(r store.Reader) (stats statistics, exact bool, err error) {
	value, ok, err := r.Get(catalogueSpace, countersPartition, statisticsRow)
	if err != nil {
		return nil, false, err
	}
	if ok {
		if err := json.Unmarshal(value, &stats); err != nil {
			return nil, false, err
		}
	}
	_, exact, err = r.Get(catalogueSpace, countersPartition, exactRow)
	return stats, exact, err
}

// writeCounters puts the counters in the catalogue, and the mark if they are
// exact. No update may be running.
func (db *DB) writeCounters(w store.Writer) error {
	stats := statistics{}
	for _, t := range db.tables {
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
	return w.Put(catalogueSpace, countersPartition, exactRow, []byte{1})
}

// Close writes the counters of the tables to the store, which stays open. It
// waits for running operations; later updates return [store.ErrClosed]. Without a
// Close the next Open has to count again. Closing again, or with nothing changed
// since Open, does nothing.
func (db *DB) Close(ctx context.Context) error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil
	}
	db.closed = true
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
	err := db.store.Update(ctx, db.writeCounters)
	if errors.Is(err, store.ErrReadOnly) || errors.Is(err, store.ErrClosed) {
		return nil
	}
	return err
}

// recount sets the counters from the rows of one view. Updates continue
// meanwhile, and what they add to the counters stays.
func (db *DB) recount(ctx context.Context) error {
	if db.exact.Load() {
		return nil
	}
	type count struct {
		counter
		items, bytes int
	}
	db.mu.Lock() // the view has to begin between two updates
	unlock := sync.OnceFunc(db.mu.Unlock)
	defer unlock()
	var counts []count
	for _, t := range db.tables {
		for _, c := range t.counters(true) { // a build counts its own rows
			counts = append(counts, count{c, -int(c.stats.items.Load()), -int(c.stats.bytes.Load())})
		}
	}
	err := db.store.View(ctx, func(r store.Reader) error {
		unlock()
		for i := range counts {
			c := &counts[i]
			for row, err := range r.Scan(c.space, store.Everything()) {
				if err != nil {
					return err
				}
				c.items++
				c.bytes += itemOf(row.Value).Size() + storageOverhead
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	db.mu.RLock() // so that Close and Fork see all of it or none
	defer db.mu.RUnlock()
	for _, c := range counts {
		c.stats.add(c.items, c.bytes)
	}
	db.exact.Store(true)
	return nil
}
