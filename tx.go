package sortkey

import "context"

// Update calls fn and applies all that fn writes, or nothing if fn returns an error. Every operation with the context
// of fn is part of the Update, on any table of the database. It sees what fn has written so far. The whole Update
// happens at one moment, serialisable with all other operations.
//
// On a store that several programs share, Update calls fn again after a conflict, so fn must do nothing outside the
// database that cannot be repeated. Use the context of fn inside fn, from one goroutine at a time. An operation with
// the outer context waits for fn to end (see the caveats of the package). An operation that is refused, such as a
// write whose condition does not hold, leaves the transaction as it was, and fn decides what to do. Operations that
// create, change or delete tables are refused in fn.
//
// An Update with the context of another Update is a part of that other Update. If the inner function returns an error
// or panics, its writes are undone, and the outer function continues.
//
// In memory and on disk only one Update runs at a time. Other writes wait while fn runs, until their contexts end or
// the database closes; reads continue. On disk the changes of an Update may take at most 1 GiB, and all are in memory
// until the Update ends. docs/embedded.md has a table of what waits for what.
func (db *DB) Update(ctx context.Context, fn func(ctx context.Context) error) error {
	if ctx == nil {
		return noContext("DB.Update")
	}
	if fn == nil {
		return misuse("DB.Update: the function is nil")
	}
	return finished(ctx, db.tables.UpdateJoined(ctx, fn))
}

// View calls fn with a context whose operations all read the same state of the database and cannot write. Several
// goroutines may use that context. A View does not wait for an Update or for a change of tables, and these do not
// wait for a View. While a long View runs, the store keeps the rows that the View can see, even if later writes have
// replaced them.
func (db *DB) View(ctx context.Context, fn func(ctx context.Context) error) error {
	if ctx == nil {
		return noContext("DB.View")
	}
	if fn == nil {
		return misuse("DB.View: the function is nil")
	}
	return finished(ctx, db.tables.ViewJoined(ctx, fn))
}

// finished converts the error of a transaction into the error that callers see. If ctx has ended during a wait and
// err is its cause, finished returns the same error as other operations do in that case.
func finished(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && err == context.Cause(ctx) { //nolint:errorlint // as it is
		return interrupted(ctx)
	}
	return failed(err)
}
