package life

import "context"

// HoldIndexes makes eventually consistent reads of indexes see the rows as they are now, until [table.DB.Settle]. The
// error is [table.ErrNoVersions].
func (db *DB) HoldIndexes(ctx context.Context) error {
	unlock, err := db.alter.Lock(ctx) // no index is being filled
	if err != nil {
		return err
	}
	defer unlock()
	return db.DB.HoldIndexes(ctx)
}
