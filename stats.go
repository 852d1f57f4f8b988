package sortkey

import (
	"context"

	"github.com/sortkey/sortkey/store"
)

// Compact puts the rows into less memory, or into fewer and smaller files: the space of what was
// replaced or deleted is free again. Nobody can read a difference, and reads and writes go on
// meanwhile. In memory it takes some 0.1 µs for each row that was put since the last time; on disk it
// reads and writes the whole database, so call it after much was deleted, not at every start: the
// engine does the same in the background, bit by bit. It returns early when ctx ends. The error is
// [errors.ErrUnsupported] for a store that cannot do this.
func (db *DB) Compact(ctx context.Context) error {
	if ctx == nil {
		return noContext("DB.Compact")
	}
	st, ok := db.store.(store.Compactor)
	if !ok {
		return unsupported("Compact", "packages store/memory and store/disk")
	}
	if err := db.tables.Outside(); err != nil {
		return failed(err)
	}
	return finished(ctx, st.Compact(ctx))
}
