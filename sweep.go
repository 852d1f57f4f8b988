package sortkey

import (
	"context"
	"time"
)

// Sweep deletes the expired items of all tables, with their index entries, and
// returns how many it deleted. An item has expired when its table has time to
// live enabled and the attribute that UpdateTimeToLive named holds a time
// within the five years before the database's clock, as a number of seconds
// since 1970. Until a sweep deletes them, expired items are visible like any
// other, as in the service.
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
			db.opts.Logger.Error("sweep of expired items failed", "error", err)
		}
	}
}
