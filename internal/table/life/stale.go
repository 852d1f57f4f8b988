package life

import "context"

// HoldIndexes makes eventually consistent reads of indexes see the rows as they are now, until [table.DB.Settle]. The
// error is [table.ErrNoVersions].
func (db *DB) HoldIndexes(ctx context.Context) error {
	return db.exclusively(ctx, func() error { return db.DB.HoldIndexes(ctx) }) // no index is being filled
}
