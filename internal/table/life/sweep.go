package life

import (
	"context"
	"time"
)

// Sweep deletes the items of all tables that have expired at now, with their index entries, and returns their number.
// As in the service, expired items stay readable until they are deleted. Sweep also removes expired system backups,
// old tokens of transactions, stream records past their retention, and tables whose time of DELETING is over. Source:
// DG/howitworks-ttl.html.
func (db *DB) Sweep(ctx context.Context, now time.Time) (deleted int, err error) {
	if err := db.Refresh(ctx); err != nil {
		return 0, err
	}
	if db.Current().Deleting {
		if err := db.exclusively(ctx, func() error { return db.removeDeleted(ctx) }); err != nil {
			return 0, err
		}
	}

	names, err := db.Names(ctx)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		n, err := db.SweepTable(ctx, name, now)
		deleted += n
		if err != nil {
			return deleted, err
		}
	}

	if err := db.expireBackups(ctx, now); err != nil {
		return deleted, err
	}
	if err := db.ExpireTokens(ctx, now); err != nil {
		return deleted, err
	}
	if err := db.TrimStreams(ctx); err != nil {
		return deleted, err
	}
	return deleted, db.clearStreams(ctx)
}
