package sortkey

import "context"

// Update calls fn and applies all that it writes, or nothing if it returns an error. Every
// operation on the database with fn's context, on any of its tables, takes part: it sees what
// fn has written, and all of it happens at one moment, serialisable with everything else.
//
// On a store that others share, fn is called again if it meets a conflict. So it must have no
// effect outside the database that a second call would not overwrite. Use its context inside it
// and from one goroutine at a time: an operation with the context outside waits for fn to
// end (see the caveats of the package). An operation that is
// refused, such as a write whose condition does not hold, leaves the transaction as it was; fn
// decides. Tables are not created, changed or deleted in it.
//
// An Update with the context of another one is a part of it: if its function returns an error or
// panics, what that has written is taken back, and the function outside goes on.
//
// There is one Update at a time in memory and on disk, so other writes wait while fn runs,
// until their contexts end or the database closes. Reads go on. On disk an Update has at most 1 GiB of
// changes, all in memory until it ends. docs/embedded.md has a table of what waits for what.
func (db *DB) Update(ctx context.Context, fn func(ctx context.Context) error) error {
	if ctx == nil {
		return noContext("DB.Update")
	}
	if fn == nil {
		return misuse("DB.Update: the function is nil")
	}
	return finished(ctx, db.tables.UpdateJoined(ctx, fn))
}

// View calls fn with a context whose operations all read the same state of the database and
// cannot write. It may be used from several goroutines. Views neither wait for an Update nor for a
// change of tables, nor keep them waiting; a long one keeps the rows that it can see and that have been replaced since.
func (db *DB) View(ctx context.Context, fn func(ctx context.Context) error) error {
	if ctx == nil {
		return noContext("DB.View")
	}
	if fn == nil {
		return misuse("DB.View: the function is nil")
	}
	return finished(ctx, db.tables.ViewJoined(ctx, fn))
}

// finished returns the error of a transaction in its public form. A wait ends with the cause
// of its context alone.
func finished(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && err == context.Cause(ctx) { //nolint:errorlint // as it is
		return interrupted(ctx)
	}
	return failed(err)
}
