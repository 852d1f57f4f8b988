package sortkey

import (
	"context"
	"errors"
	"time"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
)

// StaleReads make eventually consistent reads miss recent changes: those without
// ConsistentRead, and all of global indexes. Each sees the rows of a table or an
// index as they were at one moment.
//
// Earlier versions are kept in memory: at most 512, each with the rows that were
// replaced since. With more changes in the window, reads see only some of the states
// between. A change of a table's definition ends the window of the changes before it.
type StaleReads struct {
	// Window is how long after a change reads may miss it, on the clock of the
	// database. 0 means that they see every change.
	Window time.Duration
	// Seed chooses among the versions that a read may see. A program that makes
	// the same calls at the same times gets the same answers.
	Seed uint64
	// Oldest makes every read see the oldest version in the window instead.
	Oldest bool
}

// ErrStaleReads is returned by [Open], [DB.Fork] and [DB.HoldIndexes] when the store
// cannot keep earlier versions of its rows. Stores of package store/memory can.
var ErrStaleReads = errors.New("sortkey: store does not support stale reads (stores of package store/memory do)")

// lag applies o.Simulate.StaleReads to tables.
func (o *Options) lag(tables *life.DB) error {
	s := o.Simulate.StaleReads
	if s.Window <= 0 {
		return nil
	}
	return staleError(tables.SetStaleness(table.Staleness(s)))
}

func staleError(err error) error {
	if errors.Is(err, table.ErrNoVersions) {
		return ErrStaleReads
	}
	return err
}

// HoldIndexes makes reads of global and local indexes see the rows as they are now,
// until [DB.Settle]. Consistent reads of local indexes, and indexes that are created
// later, are not affected. A fork inherits nothing of it.
func (db *DB) HoldIndexes() error {
	return staleError(db.tables.HoldIndexes(context.Background()))
}

// Settle makes reads see all changes so far: it ends [DB.HoldIndexes], and the window
// of [StaleReads] for the changes before it.
func (db *DB) Settle() { db.tables.Settle() }
