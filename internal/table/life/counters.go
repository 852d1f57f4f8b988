package life

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
)

// The database keeps the counters of items and bytes in memory, so that writes need not update rows for them.
// [DB.Close] writes them to the catalogue, with a mark that they are exact. After the next [Open], the first update
// removes the mark, so it is missing after a crash. The counters then start with the values of the last Close, and
// [DB.Recover] counts the rows. The service updates these figures about every six hours. Source:
// API_TableDescription, ItemCount.
var statisticsRow = []byte("statistics")

// statistics is the stored form of the counters: the numbers of items and bytes by space.
type statistics map[store.Space][2]int64

// billedMark is the value of the mark if the bytes were counted with [table.Table.BilledSize]. Older versions of this
// program, which counted the digits of vectors, wrote a smaller value.
const billedMark = 2

// readCounters returns the counters in the catalogue, and the value of the mark that they are exact. The value is 0
// if there is no mark.
func readCounters(r store.Reader) (stats statistics, mark byte, err error) {
	value, ok, err := r.Get(table.CatalogueSpace, table.CountersPartition, statisticsRow)
	if err != nil {
		return nil, 0, err
	}
	if ok {
		if err := json.Unmarshal(value, &stats); err != nil {
			return nil, 0, err
		}
	}
	value, ok, err = r.Get(table.CatalogueSpace, table.CountersPartition, table.ExactRow)
	if err != nil || !ok || len(value) == 0 {
		return stats, 0, err
	}
	return stats, value[0], nil
}

// writeCounters writes the counters to the catalogue. It also writes the mark if they are exact. The caller makes
// sure that no update runs.
func (db *DB) writeCounters(w store.Writer) error {
	err := own(db.Current()).put(w, statisticsRow)
	if err != nil || !db.exact.Load() {
		return err
	}
	return w.Put(table.CatalogueSpace, table.CountersPartition, table.ExactRow, []byte{billedMark})
}

// Close writes the counters of the tables to the store, if anything has changed since Open. It does not close the
// store. Close waits for the running updates. Later updates and all other waits return [store.ErrClosed], as do
// updates that are still waiting to begin. Without a Close, [DB.Recover] must count the items again after the next
// Open. A second Close only waits for the first. Do not call Close in the function of an update.
func (db *DB) Close(ctx context.Context) error {
	first := false
	db.closing.Do(func() { first = true })
	if !first {
		<-db.closed
		return nil
	}
	defer close(db.closed)
	db.End()
	if err := db.Updates.Drain(ctx); err != nil {
		return err
	}
	if db.sharing != nil {
		err := db.closeShared(ctx)
		if errors.Is(err, store.ErrClosed) {
			return nil
		}
		return err
	}

	if db.Marked.Load() || db.Temporary {
		return nil
	}
	err := db.Store.Update(ctx, db.writeCounters)
	if errors.Is(err, store.ErrReadOnly) || errors.Is(err, store.ErrClosed) {
		return nil
	}
	return err
}

// recount counts the rows and sets the counters, unless the counters are exact.
func (db *DB) recount(ctx context.Context) error {
	if db.exact.Load() {
		return nil
	}
	return db.countRows(ctx, func(all *table.Set, _ *sharedCounts) (list []table.Counter) {
		for _, t := range all.ByName {
			list = append(list, t.Counters(true)...) // a build counts its own rows
		}
		return list
	}, func() { db.exact.Store(true) })
}

// rebill counts the bytes of a table again after a change of its vector indexes, as such a change can change the
// billed sizes of items. In a shared store, rebill only marks the counters as inexact, and the leader counts.
func (db *DB) rebill(ctx context.Context, name string) error {
	if db.sharing != nil {
		return db.Change(ctx, func(w store.Writer) error {
			return w.Put(table.CatalogueSpace, table.CountersPartition, inexactRow, nil)
		})
	}
	return db.countRows(ctx, func(all *table.Set, _ *sharedCounts) []table.Counter {
		t := all.ByName[name]
		if t == nil {
			return nil // deleted meanwhile
		}
		return t.Counters(true)[:1]
	}, func() {})
}

// countRows counts rows in one snapshot and corrects counters by the result. The function of returns these counters. In
// a shared store, of also gets the stored counters in the snapshot. At the end, countRows calls done. Updates continue
// during the count, and countRows keeps what they add to the counters.
func (db *DB) countRows(
	ctx context.Context, of func(*table.Set, *sharedCounts) []table.Counter, done func(),
) error {
	type count struct {
		table.Counter
		items, bytes int
	}
	resume, err := db.Updates.Lock(ctx) // no update may run between the snapshot and reading the counters
	if err != nil {
		return err
	}
	defer resume()
	var counts []count
	all := db.Current()
	err = all.Rows.View(ctx, func(r store.Reader) error {
		stored := new(sharedCounts)
		if db.sharing != nil {
			if stored, err = readSharedCounts(r); err != nil {
				return err
			}
		}
		counts = nil
		for _, c := range of(all, stored) {
			base := stored.base[c.Space]
			own := c.Stats.Load()
			counts = append(counts, count{c, -int(own[0] + base[0]), -int(own[1] + base[1])})
		}
		resume()
		work := db.Work(false)
		defer work.Done()
		for i := range counts {
			c := &counts[i]
			for row, err := range r.Scan(c.Space, store.Everything()) {
				if err != nil {
					return err
				}
				if err := work.Add(ctx, len(row.Value)); err != nil {
					return err
				}
				c.items++
				c.bytes += c.Size(attr.Item(row.Value)) + table.StorageOverhead
			}
		}
		return nil
	})
	if err != nil {
		return err
	}

	// hold the lock, so that Close and Fork see all new counters or none
	if err := db.Updates.RLock(ctx); err != nil {
		return err
	}
	defer db.Updates.RUnlock()
	for _, c := range counts {
		c.Stats.Add(c.items, c.bytes)
	}
	done()
	return nil
}
