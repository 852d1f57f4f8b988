package life

import "context"

// HoldIndexes makes reads of indexes see the rows as they are now, until
// [table.DB.Settle]. The error is [table.ErrNoVersions].
func (db *DB) HoldIndexes(ctx context.Context) error {
	if err := db.alter.Take(ctx, db.Gate); err != nil { // no index is being filled
		return err
	}
	defer db.alter.Leave()
	return db.DB.HoldIndexes(ctx)
}
