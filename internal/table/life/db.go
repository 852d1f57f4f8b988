// Package life manages the life of tables: it creates, changes, backs up, restores and deletes them. It also
// completes work that a crash has interrupted, runs sweeps, and shares counters with other servers.
//
// A [DB] is a [table.DB], whose rows package table reads and writes. It keeps the definitions of tables in the
// catalogue, a space of the same store, and publishes a new [table.Set] after each change. A change has three steps.
// One update writes the definition. Then the Set is published while no update runs. Further updates fill new spaces
// or clear old ones. If a crash interrupts the third step, [DB.Recover] completes it.
//
//	db, err := life.Open(ctx, memory.Open())
//	if !db.Recovered() {
//		go db.Recover(ctx) // completes what a crash has interrupted
//	}
//	drive, err := db.Create(ctx, &table.Definition{
//		Name:       "Drive",
//		Attributes: []keycond.Attribute{{Name: "PK", Kind: attr.String}, {Name: "day", Kind: attr.Number}},
//		Key:        []table.KeyElement{{Name: "PK", Hash: true}},
//	})
//	drive, err = db.Alter(ctx, "Drive", func(def *table.Definition) error {
//		def.Global = append(def.Global, byDay) // the new index is filled before Alter returns
//		return nil
//	})
//	_, err = db.Delete(ctx, "Drive")
package life

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/lock"
	"github.com/sortkey/sortkey/store"
)

// A DB is a set of tables in a store. It is safe for concurrent use.
type DB struct {
	*table.DB

	// Delay is how long tables and global indexes are CREATING, UPDATING and
	// DELETING. Set it before use. Default: 0.
	Delay time.Duration
	// Temporary is true if nobody opens the store again. Close then need not write the counters.
	Temporary bool

	sharing *sharing // nil unless other servers use the store too

	closing sync.Once
	closed  chan struct{} // closed when the first Close has finished

	// alter is held while a table is created, changed or deleted. Lock it before Updates and before an update begins.
	alter *lock.Lock

	// opening is set while EndJob ends a job and publishes its table, and otherwise nil. A client that sees that the
	// job has ended waits until the channel is closed. Only then can it use the table.
	opening atomic.Pointer[chan struct{}]

	// filling has the spaces that transfers of this server fill; the catalogue lists them as garbage. restoring has
	// the names of the tables that are being restored. Both are sets.
	filling, restoring sync.Map

	recovering *lock.Lock  // held by Recover; lock it before alter
	exact      atomic.Bool // the counters in memory are exact
	garbage    atomic.Bool // the catalogue lists spaces to clear
}

func newDB(rows *table.DB) *DB {
	db := new(DB)
	db.init(rows)
	return db
}

func (db *DB) init(rows *table.DB) {
	db.DB, db.closed, db.alter, db.recovering = rows, make(chan struct{}), rows.NewLock(), rows.NewLock()
}

// Open returns the tables in a store. It reads their definitions and counters but no items. If [DB.Recovered] returns
// false, the caller should run [DB.Recover]. It may do so in the background, as clients can use the tables before
// Recover returns. The caller closes the store after [DB.Close].
func Open(ctx context.Context, st store.Store) (*DB, error) {
	if shared, ok := st.(capability.Sharer); ok {
		db := new(DB)
		db.init(table.New(st, db))
		db.sharing = &sharing{Sharer: shared, storing: db.NewLock()}
		return db, db.Reload(ctx)
	}

	db := newDB(table.New(st, nil))
	var stats statistics
	var mark byte
	var c *catalogue
	err := st.View(ctx, func(r store.Reader) (err error) {
		if stats, mark, err = readCounters(r); err == nil {
			c, err = readCatalogue(r)
		}
		return err
	})
	if err != nil {
		return nil, err
	}

	exact := mark > 0
	db.Publish(func(all *table.Set) {
		for _, def := range c.definitions {
			t := table.Compile(def, nil)
			if len(def.Vectors) > 0 && mark < billedMark {
				exact = false
			}
			for _, c := range t.Counters(false) {
				c.Stats.Store(stats[c.Space])
			}
			all.ByName[def.Name] = t
		}
	})

	db.garbage.Store(c.garbage)
	db.Marked.Store(mark > 0)
	db.exact.Store(exact || len(c.definitions) == 0)
	return db, nil
}

// Fork returns a copy of db. The function fork must return a copy of the store of db. Neither database sees later
// writes to the other. Fork waits for running updates and changes of tables, and new ones wait for Fork; reads
// continue. Do not call Fork in the function of an update.
func (db *DB) Fork(fork func() (store.Store, error)) (*DB, error) {
	ctx := context.Background()
	unlock, err := db.alter.Lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	resume, err := db.Updates.Lock(ctx)
	if err != nil {
		return nil, err
	}
	defer resume()
	st, err := fork()
	if err != nil {
		return nil, err
	}

	copied := newDB(db.DB.Fork(st))
	copied.Delay = db.Delay
	copied.exact.Store(db.exact.Load())
	copied.garbage.Store(db.garbage.Load())
	db.filling.Range(func(any, any) bool {
		copied.garbage.Store(true)
		return false
	})
	return copied, nil
}
