package sortkey

import (
	"context"
	"time"
)

// Sweep deletes the items of all tables that have expired by the database's
// clock, with their index entries, and returns how many it deleted. An item
// has expired when its table has time to live enabled and the attribute that
// UpdateTimeToLive named holds a time of the last five years, a number of
// seconds since 1970. Until a sweep comes by, expired items are there as any
// other, as they are in the service.
func (db *DB) Sweep(ctx context.Context) (deleted int, err error) {
	return db.tables.Sweep(ctx, db.opts.Clock())
}

// sweepEvery sweeps at every interval until ctx ends.
func (db *DB) sweepEvery(ctx context.Context, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if _, err := db.Sweep(ctx); err != nil && ctx.Err() == nil {
			db.opts.Logger.Error("sweep of expired items", "error", err)
		}
	}
}
