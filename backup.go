package sortkey

import (
	"context"
	"fmt"
	"io"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
)

// Backup writes to w everything that the database holds at one moment: tables with their settings, items, indexes and
// streams. [Restore] and the command sortkey restore read a backup into a store of any engine. Backup works on every
// store, even if it is open for reading only. Reads and writes continue, and the store keeps the rows that writes
// replace until Backup ends. With the context of a transaction, Backup writes the state that the transaction sees.
//
// Backup calls w.Write with blocks of 256 KB or more, uncompressed. It holds no lock while w writes. If Backup
// returns an error, the backup in w is incomplete, and Restore refuses it.
func (db *DB) Backup(ctx context.Context, w io.Writer) error {
	if ctx == nil {
		return noContext("DB.Backup")
	}
	if w == nil {
		return misuse("DB.Backup: the writer is nil")
	}
	err := db.tables.View(ctx, func(view *table.View) error { return view.Backup(w) })
	if err != nil {
		return db.ended(ctx, failed(err))
	}
	return nil
}

// Restore reads a backup that [DB.Backup] has written into an empty store, so that [Open] can open the store. Nobody
// else may use the store during Restore. If Restore returns an error, the store is still empty. As after a crash,
// Open continues the exports, imports and bulk puts that were in progress at the time of the backup, and counts the
// rows.
//
// A store in memory or on disk can take a backup of any size. Any other store gets it in one Update, whose size the
// store may limit.
func Restore(ctx context.Context, st store.Store, r io.Reader) error {
	switch {
	case ctx == nil:
		return noContext("Restore")
	case st == nil || r == nil:
		return misuse("Restore: the store or the reader is nil")
	}
	err := table.Restore(ctx, st, r)
	switch {
	case err != nil && ctx.Err() != nil:
		return interrupted(ctx)
	case err != nil:
		return fmt.Errorf("sortkey: restore: %w", err)
	}
	return nil
}
