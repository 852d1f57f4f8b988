package sortkey

import (
	"context"
	"fmt"
	"io"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
)

// Backup writes all that the database holds to w, as it is at one moment: tables, indexes, streams and
// what else is known of them. [Restore] reads it, into a store of any engine, and so does the command
// sortkey restore. Backup works on every store, also on one that is open for reading only. Nothing waits
// for it; while it runs, the rows that are replaced meanwhile are kept. With the context of a
// transaction, it writes the state that the transaction sees.
//
// It calls w.Write with blocks of 256 KB or more, uncompressed and without a lock. After an error w has
// an incomplete backup, which Restore refuses.
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

// Restore reads a backup that [DB.Backup] has written into an empty store, which nobody else may use, for [Open].
// The store has all of it or, after an error, nothing. Exports, imports and bulk puts that were in progress continue
// when the store is opened, and its rows are counted then, as after a crash.
//
// In memory and on disk the size does not matter. Other stores take a backup as one Update, whose size
// they may limit.
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
