package sortkey

import "context"

// Update calls fn and applies all that it writes, or nothing if it returns an error. Every
// operation on the database with fn's context, on any of its tables, takes part: it sees what
// fn has written, and all of it happens at one moment, serialisable with everything else.
//
// Fn may be called again if it meets a conflict, on stores that others share, so it must have
// no effect outside the database that a second call would not overwrite. Use its context
// inside it and from one goroutine only; with the context outside, an operation would wait
// for fn to end, which waits for it. An operation that is refused, such as a write whose
// condition does not hold, leaves the transaction as it was; fn decides. Tables are not
// created or deleted in it.
//
// There is one Update at a time in memory and on disk, so others wait while fn runs. On disk
// it has at most 1 GiB of changes, all in memory until it ends.
func (db *DB) Update(ctx context.Context, fn func(ctx context.Context) error) error {
	if ctx == nil {
		return noContext("DB.Update")
	}
	return failed(db.tables.UpdateJoined(ctx, fn))
}

// View calls fn with a context whose operations all read the same state of the database and
// cannot write. Views neither wait for an Update nor keep it waiting; a long one keeps the
// rows that have been replaced since.
func (db *DB) View(ctx context.Context, fn func(ctx context.Context) error) error {
	if ctx == nil {
		return noContext("DB.View")
	}
	return failed(db.tables.ViewJoined(ctx, fn))
}
