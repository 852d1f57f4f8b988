package table

import (
	"context"
	"errors"
	"sync"

	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/keycond"
)

// A txContext is a View or an Update that a context carries: operations with the context join it.
type txContext struct {
	view *View
	tx   *Tx // nil for a View
	*transaction
}

// A transaction is what the contexts of one View or Update have in common.
type transaction struct {
	// serial says that it is an Update: two operations must not use it at the same time, and
	// using is held while one does.
	serial bool
	update *Tx // of an Update
	using  sync.Mutex

	state sync.Mutex // guards what follows; held for nothing else
	// nested is the context of the innermost Update whose function runs, nil for the transaction's
	// own. Only its operations may use the transaction, and reads of frozen states.
	nested *txContext
	ended  bool
	// broken is why an Update cannot be applied, whatever its function returns.
	broken error
}

func (x *transaction) fail(err error) {
	x.state.Lock()
	defer x.state.Unlock()
	if x.broken == nil {
		x.broken = err
	}
}

// failure returns why the transaction is of no use any more, or nil.
func (x *transaction) failure() error {
	x.state.Lock()
	defer x.state.Unlock()
	if x.ended {
		return ErrEnded
	}
	return x.broken
}

// end ends the transaction, and returns why it cannot be applied.
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

// ErrReadOnly is returned by writes in a [DB.ViewJoined].
var ErrReadOnly error = &MisuseError{"the transaction only reads: write in an Update"}

// errConcurrent is returned by operations that begin while another one uses their Update.
var errConcurrent error = &MisuseError{
	"two goroutines use the context of one Update at the same time: use it in one goroutine only",
}

// errNested is returned by operations of an Update while the function of a nested one runs.
var errNested error = &MisuseError{
	"a nested Update is running: use the context of its function, and in one goroutine only",
}

// errDefinition is returned by changes of tables within a transaction.
var errDefinition error = &MisuseError{
	"tables are not created, changed or deleted in a transaction: do it before or after it",
}

// UpdateJoined is [DB.Update] for a function that gets a context: every operation on the
// database with that context is part of the update. They see each other's writes, and reads
// see no earlier versions. Fn may be called more than once. The whole update fails with the
// error of an operation that failed after it had written something, or because of the store;
// what is refused before it writes, such as a failed condition, is for fn to handle.
// Operations with the context that run at the same time are refused.
//
// With the context of an Update of db, fn is a part of it: if fn returns an error or panics,
// what it has written is taken back, and the outer function goes on.
func (db *DB) UpdateJoined(ctx context.Context, fn func(context.Context) error) error {
	if j, err := db.joined(ctx); err != nil {
		return err
	} else if j != nil {
		return j.nested(ctx, fn)
	}
	return db.run(ctx, newUpdate(), func(tx *Tx) (err error) {
		x := new(struct {
			txContext
			transaction
		})
		x.transaction.serial, x.transaction.update = true, tx
		x.txContext = txContext{view: &tx.View, tx: tx, transaction: &x.transaction}
		j := &x.txContext
		tx.fixed = true
		defer func() {
			if broken := j.end(); broken != nil {
				err = broken
			}
		}()
		if err := fn(db.join(ctx, j)); err != nil {
			return err
		}
		return context.Cause(ctx) // what was called off is not applied
	})
}

// ViewJoined is [DB.View] for a function that gets a context: every read of the database
// with that context sees the same state.
func (db *DB) ViewJoined(ctx context.Context, fn func(context.Context) error) error {
	j, err := db.joined(ctx)
	if err != nil {
		return err
	}
	if j != nil {
		return fn(db.join(ctx, &txContext{view: j.view, transaction: j.transaction}))
	}
	return db.View(ctx, func(view *View) error {
		kept := *view // operations with the context may look at it when the View has ended
		kept.fixed = true
		j := &txContext{view: &kept, transaction: new(transaction)}
		defer func() { _ = j.end() }()
		return fn(db.join(ctx, j))
	})
}

func (db *DB) join(ctx context.Context, j *txContext) context.Context {
	return context.WithValue(ctx, txContextKey{db}, j)
}

// joined returns the View or Update of db that ctx belongs to, or nil.
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

// use begins an operation with the transaction, and done ends it. While nested Updates run, only the context of the
// innermost function can be used, and contexts that only read.
func (j *txContext) use() (done func(), err error) {
	if j.serial && !j.using.TryLock() {
		return nil, errConcurrent
	}
	done = func() {
		if j.serial {
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

// read calls fn with the state that the View or Update sees.
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

// write calls fn with the transaction of the Update.
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

// nested runs the function of an Update within one. What it has written is taken back if it
// fails.
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

// nest makes next the only context that can use the transaction, and returns the one before.
func (x *transaction) nest(next *txContext) (was *txContext) {
	x.state.Lock()
	defer x.state.Unlock()
	was, x.nested = x.nested, next
	return was
}

// Freeze returns a context for reads that see the rows of an Update as they are now, whatever it
// writes later, until release. With the context of a View, or of no transaction, there is nothing
// to do.
func (db *DB) Freeze(ctx context.Context) (frozen context.Context, release func(), err error) {
	j, err := db.joined(ctx)
	if err != nil || j == nil || !j.serial {
		return ctx, func() {}, err
	}
	return db.freeze(ctx, j)
}

// freeze is Freeze for an Update.
func (db *DB) freeze(ctx context.Context, j *txContext) (frozen context.Context, release func(), err error) {
	done, err := j.use()
	if err != nil {
		return nil, nil, err
	}
	defer done()
	f := j.update.freeze()
	view := *j.view
	view.r = f
	frozen = db.join(ctx, &txContext{view: &view, transaction: j.transaction})
	release = func() {
		j, _ := db.joined(frozen)
		if j == nil {
			return
		}
		if done, err := j.use(); err == nil {
			f.release()
			done()
		}
	}

	return frozen, release, nil
}

// isRefusal reports whether an error is an answer to a request, and not a failure of the
// store or of the context.
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

// OutsideTx returns an error if ctx belongs to a transaction of db, in which definitions of tables cannot change.
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
