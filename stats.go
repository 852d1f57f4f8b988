package sortkey

import (
	"context"

	"github.com/sortkey/sortkey/internal/capability"
)

// Stats are figures of a database, for monitoring. [DB.Stats] returns them.
type Stats struct {
	// Rows is how many rows the tables and their indexes have: an item is a row of its table, and
	// one of each index that it is in.
	Rows int64
	// Bytes is the size of these rows as the service bills it: the names and values of their
	// attributes, and 100 bytes for each row.
	Bytes int64
	// Versions is how many states before the latest are kept because a [DB.View] or a loop reads
	// them, each with the rows that have been replaced since. It is 0 for a store that does not count
	// them, as only those of packages store/memory and store/disk do.
	Versions int
	// DiskBytes is the size of the store's files, with the log and with rows that have been replaced
	// and not compacted yet. It is 0 for a store without a folder.
	DiskBytes int64
}

// Stats returns the figures of the database. It reads counters and no rows, so its time does not
// depend on the size of the database. Like those of [TableInfo], the counters may be inexact for a
// while after a crash, and on a store that programs share.
func (db *DB) Stats(ctx context.Context) (s Stats, err error) {
	if ctx == nil {
		return s, noContext("DB.Stats")
	}
	names, err := db.Tables(ctx)
	if err != nil {
		return s, err
	}
	for _, name := range names {
		t, err := db.tables.Describe(ctx, name)
		if err != nil {
			continue // deleted meanwhile
		}
		s.add(t.Items())
		for _, ix := range t.Indexes() {
			s.add(ix.Items())
		}
	}
	if m, ok := db.store.(capability.Measurer); ok {
		s.Versions, s.DiskBytes = m.Usage()
	}
	return s, nil
}

func (s *Stats) add(rows, bytes int64) {
	s.Rows += rows
	s.Bytes += bytes
}

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
	st, ok := db.store.(capability.Compactor)
	if !ok {
		return unsupported("Compact", "packages store/memory and store/disk")
	}
	return db.maintain(ctx, "DB.Compact", st.Compact)
}

// maintain runs a call of the store that waits for updates, until ctx or the database ends. It refuses the context of a
// transaction, for which it might wait.
func (db *DB) maintain(ctx context.Context, call string, run func(context.Context) error) error {
	switch in, err := db.tables.InTransaction(ctx); {
	case in:
		return misuse("%s: call it before or after the transaction", call)
	case err != nil:
		return failed(err)
	}
	bound, stop := db.tables.Bound(ctx)
	defer stop()
	return finished(ctx, run(bound))
}
