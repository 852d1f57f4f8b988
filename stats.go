package sortkey

import (
	"context"

	"github.com/sortkey/sortkey/internal/capability"
)

// Stats are figures of a database, for monitoring. [DB.Stats] returns them.
type Stats struct {
	// Rows is how many rows the tables and their indexes have. An item is a row of its table, and a row of each index
	// that contains it.
	Rows int64
	// Bytes is the size of these rows as DynamoDB bills it: the names and values of their attributes, plus 100 bytes
	// for each row.
	Bytes int64
	// Versions is how many earlier states the store keeps because a [DB.View] or a loop still reads them. For each
	// state, the rows that have been replaced since take memory or disk. Only the stores of packages store/memory and
	// store/disk count states; for other stores Versions is 0.
	Versions int
	// DiskBytes is the size of the store's files, including the log, and the rows that have been replaced but not
	// compacted yet. It is 0 for a store without a folder.
	DiskBytes int64
}

// Stats returns the figures of the database. It reads counters and no rows, so its time does not depend on the size
// of the database. After a crash, and on a store that several programs share, the counters may be inexact for a
// while, like those of [TableInfo].
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

// Compact frees the space of rows that were replaced or deleted: it puts the rows into less memory, or into fewer and
// smaller files. Reads and writes go on meanwhile and see no difference. In memory it takes some tenths of a
// microsecond for each row that was put since the last Compact. On disk it reads and writes the whole database, so call
// it after deleting much, not at every start: the engine compacts in the background anyway, bit by bit. Compact returns
// early when ctx ends. The error is [errors.ErrUnsupported] for a store that cannot compact.
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

// maintain calls run, which waits for updates. The context of run ends when ctx ends or the database is closed. If
// ctx belongs to a transaction, maintain returns an error, as run might wait for that same transaction.
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
