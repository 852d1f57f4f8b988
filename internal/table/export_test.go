package table

import (
	"context"

	"github.com/sortkey/sortkey/store"
)

// Versions returns how many earlier versions are kept.
func (db *DB) Versions() int {
	l := db.lag.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list)
}

// SetExact sets the value of the mark that the counters in a closed store are exact.
func SetExact(ctx context.Context, st store.Store, mark byte) error {
	return st.Update(ctx, func(w store.Writer) error {
		return w.Put(catalogueSpace, countersPartition, exactRow, []byte{mark})
	})
}
