package table

import (
	"context"
	"errors"
	"sync"

	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/keycond"
)

// A txContext is a View or an Update that a context carries. An operation that gets this context runs inside the View
// or Update.
type txContext struct {
	view *View
	tx   *Tx // nil for a View
	*transaction
}

// A transaction is the state that all contexts of one View or Update share.
type transaction struct {
	// update is the Tx of an Update, or nil for a View. Only one operation at a time may run in an Update; it holds
	// using.
	update *Tx
	using  sync.Mutex

	state sync.Mutex // guards the fields below
	// nested is the txContext of the innermost running nested Update, or nil while none runs. Only operations with
	// that txContext, and reads of frozen states, may use the transaction.
	nested *txContext
	ended  bool
	// broken is the error that makes the Update fail, even if its function returns nil.
	broken error
}

func (x *transaction) fail(err error) {
	x.state.Lock()
	defer x.state.Unlock()
	if x.broken == nil {
		x.broken = err
	}
}

// failure returns the error for operations that want to use the transaction now, or nil if they may.
func (x *transaction) failure() error {
	x.state.Lock()
	defer x.state.Unlock()
	if x.ended {
		return ErrEnded
	}
	return x.broken
}

// end ends the transaction. If the transaction must not be applied, end returns the reason.
func (x *transaction) end() error {
	if !x.using.TryLock() {
		x.fail(errConcurrent)
		x.using.Lock()
	}
	defer x.using.Unlock()
	x.state.Lock()
	defer x.state.Unlock()
	x.ended = true
	return x.broken
}

type txContextKey struct{ db *DB }

// ErrEnded is returned by operations whose context belongs to a [DB.UpdateJoined] or
// [DB.ViewJoined] that has returned.
var ErrEnded error = &MisuseError{"the transaction has ended: use its context inside its function only"}

// ErrReadOnly is returned by writes with a context of [DB.ViewJoined].
var ErrReadOnly error = &MisuseError{"the transaction only reads: write in an Update"}

// errConcurrent is returned by an operation that begins while another one uses the same Update.
var errConcurrent error = &MisuseError{
	"two goroutines use the context of one Update at the same time: use it in one goroutine only",
}

// errNested is returned by an operation with the context of an Update while a nested Update runs.
var errNested error = &MisuseError{
	"a nested Update is running: use the context of its function, and in one goroutine only",
}

// errDefinition is returned if a transaction creates, changes or deletes a table.
var errDefinition error = &MisuseError{
	"tables are not created, changed or deleted in a transaction: do it before or after it",
}

// UpdateJoined is [DB.Update] for a function that gets a context. Every operation on db with that context is part of
// the update: it sees the writes of earlier operations, and never reads an earlier version. UpdateJoined may call fn
// more than once. If two operations with the context run at the same time, the later one returns an error.
//
// If an operation fails after it has written something, or because the store fails, the whole update fails with the
// same error. If an operation fails before it writes, for example because a condition does not hold, it changes
// nothing, and fn can handle the error.
//
// If ctx already belongs to an Update of db, fn becomes a nested part of that Update. If fn then returns an error or
// panics, UpdateJoined undoes the writes of fn, and the outer function can continue.
func (db *DB) UpdateJoined(ctx context.Context, fn func(context.Context) error) error {
	if j, err := db.joined(ctx); err != nil {
		return err
	} else if j != nil {
		return j.nested(ctx, fn)
	}
	return db.run(ctx, newUpdate(), func(tx *Tx) (err error) {
		j := &txContext{view: &tx.View, tx: tx, transaction: &transaction{update: tx}}
		tx.fixed = true
		defer func() {
			if broken := j.end(); broken != nil {
				err = broken
			}
		}()
		if err := fn(db.join(ctx, j)); err != nil {
			return err
		}
		return context.Cause(ctx) // do not apply an update that was cancelled
	})
}

// ViewJoined is [DB.View] for a function that gets a context: all reads of db with that context see the same
// snapshot.
func (db *DB) ViewJoined(ctx context.Context, fn func(context.Context) error) error {
	j, err := db.joined(ctx)
	if err != nil {
		return err
	}
	if j != nil {
		return fn(db.join(ctx, &txContext{view: j.view, transaction: j.transaction}))
	}
	return db.View(ctx, func(view *View) error {
		kept := *view // a copy, as operations may still use the context after the View has ended
		kept.fixed = true
		j := &txContext{view: &kept, transaction: new(transaction)}
		defer func() { _ = j.end() }()
		return fn(db.join(ctx, j))
	})
}

func (db *DB) join(ctx context.Context, j *txContext) context.Context {
	return context.WithValue(ctx, txContextKey{db}, j)
}

// joined returns the View or Update of db that ctx belongs to, or nil. The error is [ErrEnded].
func (db *DB) joined(ctx context.Context) (*txContext, error) {
	j, _ := ctx.Value(txContextKey{db}).(*txContext)
	if j == nil {
		return nil, nil
	}
	if err := j.failure(); errors.Is(err, ErrEnded) {
		return nil, err
	}
	return j, nil
}

// use begins an operation with the transaction; done ends it. While a nested Update runs, only operations with the
// innermost context and reads of frozen states are allowed. For others, use returns an error.
func (j *txContext) use() (done func(), err error) {
	if j.update != nil && !j.using.TryLock() {
		return nil, errConcurrent
	}
	done = func() {
		if j.update != nil {
			j.using.Unlock()
		}
	}
	err = j.failure()
	if err == nil && j.tx != nil && !j.isInnermost() {
		err = errNested
	}
	if err != nil {
		done()
		return nil, err
	}
	return done, nil
}

func (j *txContext) isInnermost() bool {
	j.state.Lock()
	defer j.state.Unlock()
	return j.transaction.nested == nil || j.transaction.nested == j
}

// read calls fn with a View of the rows that the transaction sees.
func (j *txContext) read(ctx context.Context, fn func(*View) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	done, err := j.use()
	if err != nil {
		return err
	}
	defer done()
	view := *j.view
	view.ctx = ctx
	if err = fn(&view); err != nil && !isRefusal(err) {
		j.fail(err)
	}
	return err
}

// write calls fn with the Tx of the Update.
func (j *txContext) write(ctx context.Context, fn func(*Tx) error) error {
	switch {
	case j.tx == nil:
		return ErrReadOnly
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	done, err := j.use()
	if err != nil {
		return err
	}
	defer done()

	written, outer := j.tx.written, j.tx.ctx
	j.tx.ctx = ctx
	defer func() { j.tx.ctx = outer }()
	if err = fn(j.tx); err != nil && (j.tx.written != written || !isRefusal(err)) {
		j.fail(err)
	}
	return err
}

// nested calls the function of an Update within an Update. If the function fails, nested undoes its writes.
func (j *txContext) nested(ctx context.Context, fn func(context.Context) error) (err error) {
	switch {
	case j.tx == nil:
		return ErrReadOnly
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	done, err := j.use()
	if err != nil {
		return err
	}
	point := j.tx.save()
	inner := &txContext{view: j.view, tx: j.tx, transaction: j.transaction}
	outer := j.nest(inner)
	done()

	returned := false
	defer func() {
		done, failure := inner.use()
		if failure != nil {
			j.fail(failure)
			return
		}
		defer done()
		inner.nest(outer)
		if returned && err == nil {
			j.tx.release(point)
			return
		}
		if failure := j.tx.restore(point); failure != nil {
			j.fail(failure)
		}
	}()
	if err = fn(j.view.db.join(ctx, inner)); err == nil {
		err = context.Cause(ctx)
	}
	returned = true
	return err
}

// nest lets only operations with the context next use the transaction, and returns the context that could before.
func (x *transaction) nest(next *txContext) (was *txContext) {
	x.state.Lock()
	defer x.state.Unlock()
	was, x.nested = x.nested, next
	return was
}

// Freeze returns a context for reads that see the rows of an Update as they are now, but not its later writes. ctx
// belongs to that Update. The new context is valid until the caller calls release. If ctx belongs to a View or to no
// transaction, Freeze returns ctx itself.
func (db *DB) Freeze(ctx context.Context) (frozen context.Context, release func(), err error) {
	j, err := db.joined(ctx)
	if err != nil || j == nil || j.update == nil {
		return ctx, func() {}, err
	}
	done, err := j.use()
	if err != nil {
		return nil, nil, err
	}
	defer done()
	f := j.update.freeze()
	view := *j.view
	view.r = f
	reads := &txContext{view: &view, transaction: j.transaction}
	return db.join(ctx, reads), func() {
		if done, err := reads.use(); err == nil {
			f.release()
			done()
		}
	}, nil
}

// isRefusal reports whether an error is an answer to a request, rather than a failure of the store or the end of a
// context.
func isRefusal(err error) bool {
	if _, ok := errors.AsType[*expr.Error](err); ok {
		return true
	}
	if _, ok := errors.AsType[*keycond.Error](err); ok {
		return true
	}
	_, ok := errors.AsType[interface {
		error
		Refusal()
	}](err)
	return ok
}

// OutsideTx returns an error if ctx belongs to a transaction of db. Methods that change definitions of tables call
// it, as a transaction cannot do that.
func (db *DB) OutsideTx(ctx context.Context) error {
	j, err := db.joined(ctx)
	if j != nil {
		return errDefinition
	}
	return err
}

// InTransaction reports whether ctx belongs to a transaction of db. The error is [ErrEnded].
func (db *DB) InTransaction(ctx context.Context) (bool, error) {
	j, err := db.joined(ctx)
	return j != nil, err
}
