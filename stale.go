package sortkey

import "context"

// HoldIndexes makes reads of global and local indexes see the rows as they are now,
// until [DB.Settle]. Consistent reads of local indexes, and indexes that are created
// later, are not affected. A fork inherits nothing of it. The error is [errors.ErrUnsupported] for
// stores other than those of package store/memory.
func (db *DB) HoldIndexes() error {
	return staleError(db.tables.HoldIndexes(context.Background()))
}

// Settle makes reads see all changes so far: it ends [DB.HoldIndexes], and the window
// of [StaleReads] for the changes before it.
func (db *DB) Settle() { db.tables.Settle() }
