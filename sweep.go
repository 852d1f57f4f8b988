package sortkey

import (
	"context"
	"time"

	"github.com/sortkey/sortkey/internal/table"
)

// Sweep deletes the expired items of all tables, with their index entries, and returns how many items it deleted. An
// item has expired if its table has time to live enabled and the attribute that UpdateTimeToLive named holds a time,
// in seconds since 1970, within the five years before the database's clock. Until Sweep deletes them, reads return
// expired items like any other, as in DynamoDB.
//
// Sweep also removes records of streams that are older than 24 hours, the history of point-in-time recovery that is
// older than its period, and tokens of transactions that are older than ten minutes.
func (db *DB) Sweep(ctx context.Context) (deleted int, err error) {
	if ctx == nil {
		return 0, noContext("DB.Sweep")
	}
	deleted, err = db.tables.Sweep(ctx, db.opts.Clock())
	return deleted, finished(ctx, err)
}

// sweepEvery sweeps at every interval until ctx ends. A sweep reads all items of the tables with time to live. After
// a sweep, sweepEvery waits at least nine times as long as the sweep took, so that sweeps take at most a tenth of the
// time. If several programs share a store, only one of them sweeps.
func (db *DB) sweepEvery(ctx context.Context, interval time.Duration) {
	for wait := interval; table.Sleep(ctx, wait) == nil; {
		var took time.Duration // duration of the sweep, without the wait for a slow store in MaySweep
		mine, err := db.tables.MaySweep(ctx)
		if mine {
			began := time.Now()
			_, err = db.Sweep(ctx)
			took = time.Since(began)
		}
		if err != nil && ctx.Err() == nil {
			db.opts.Logger.Error("sweep of expired items failed", "error", err)
		}
		wait = max(interval, 9*took)
	}
}
