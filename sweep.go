package sortkey

import (
	"context"
	"time"
)

// Sweep deletes the expired items of all tables, with their index entries, and
// returns how many it deleted. It also removes the records of streams that are
// older than 24 hours, the history of point-in-time recovery that is older than its
// period, and tokens of transactions that are older than ten minutes. An item has expired when its table has time to
// live enabled and the attribute that UpdateTimeToLive named holds a time
// within the five years before the database's clock, as a number of seconds
// since 1970. Until a sweep deletes them, expired items are visible like any
// other, as in the service.
func (db *DB) Sweep(ctx context.Context) (deleted int, err error) {
	if ctx == nil {
		return 0, noContext("DB.Sweep")
	}
	deleted, err = db.tables.Sweep(ctx, db.opts.Clock())
	return deleted, finished(ctx, err)
}

// sweepEvery sweeps at every interval until ctx ends. A sweep reads all items of
// the tables with time to live, so after a long one it waits longer: sweeps take
// at most a tenth of the time. Of the servers that share a store, one sweeps.
func (db *DB) sweepEvery(ctx context.Context, interval time.Duration) {
	timer := time.NewTimer(interval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		var took time.Duration // without the wait for a store that does not answer for a while
		mine, err := db.tables.MaySweep(ctx)
		if mine {
			began := time.Now()
			_, err = db.Sweep(ctx)
			took = time.Since(began)
		}
		if err != nil && ctx.Err() == nil {
			db.opts.Logger.Error("sweep of expired items failed", "error", err)
		}
		timer.Reset(max(interval, 9*took))
	}
}
