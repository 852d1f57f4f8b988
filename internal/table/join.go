package table

import (
	"context"
	"errors"
	"sync/atomic"
)

// A joint is a View or an Update that operations of a context take part in.
type joint struct {
	view *View
	tx   *Tx // nil for a View
	// broken is why the transaction cannot be applied, whatever its function returns.
	broken error
	ended  atomic.Bool
}

type jointKey struct{}

// ErrEnded is returned by operations whose context belongs to a [DB.UpdateJoined] or
// [DB.ViewJoined] that has returned.
var ErrEnded = invalid("the transaction has ended: use its context inside its function only")

// ErrReadOnly is returned by writes in a [DB.ViewJoined].
var ErrReadOnly = invalid("the transaction only reads: write in an Update")

// errDefinition is returned by changes of tables within a transaction.
var errDefinition = invalid("tables are not created, changed or deleted in a transaction: do it before or after it")

// UpdateJoined is [DB.Update] for a function that gets a context: every operation on the
// database with that context is part of the update. They see each other's writes, and reads
// see no earlier versions. Fn may be called more than once. The whole update fails with the
// error of an operation that failed after it had written something, or because of the store;
// what is refused before it writes, such as a failed condition, is for fn to handle.
// Operations with the context must not run at the same time.
func (db *DB) UpdateJoined(ctx context.Context, fn func(context.Context) error) error {
	if j, err := db.joined(ctx); err != nil {
		return err
	} else if j != nil {
		return j.nested(ctx, fn)
	}
	return db.Update(ctx, func(tx *Tx) error {
		j := &joint{view: &tx.View, tx: tx}
		defer j.ended.Store(true)
		if err := fn(join(ctx, j)); err != nil && j.broken == nil {
			return err
		}
		return j.broken
	})
}

// ViewJoined is [DB.View] for a function that gets a context: every read of the database
// with that context sees the same state.
func (db *DB) ViewJoined(ctx context.Context, fn func(context.Context) error) error {
	run := func(view *View) error {
		j := &joint{view: view}
		defer j.ended.Store(true)
		return fn(join(ctx, j))
	}
	if j, err := db.joined(ctx); err != nil {
		return err
	} else if j != nil {
		return run(j.view)
	}
	return db.View(ctx, run)
}

// nested runs the function of an update within one. What it has written cannot be undone
// alone.
func (j *joint) nested(ctx context.Context, fn func(context.Context) error) error {
	if j.tx == nil {
		return ErrReadOnly
	}
	written := j.tx.written
	err := fn(ctx)
	if err != nil && j.tx.written != written && j.broken == nil {
		j.broken = err
	}
	return err
}

func join(ctx context.Context, j *joint) context.Context {
	return context.WithValue(Settled(ctx), jointKey{}, j)
}

// joined returns the View or Update of db that ctx belongs to, or nil.
func (db *DB) joined(ctx context.Context) (*joint, error) {
	j, ok := ctx.Value(jointKey{}).(*joint)
	if !ok || j.view.db != db {
		return nil, nil
	}
	if j.ended.Load() {
		return nil, ErrEnded
	}
	return j, nil
}

// read calls fn with the state of the joint.
func (j *joint) read(ctx context.Context, fn func(*View) error) error {
	if j.broken != nil {
		return j.broken
	}
	view := *j.view
	view.ctx = ctx
	err := fn(&view)
	if err != nil && !isRefusal(err) {
		j.broken = err
	}
	return err
}

// write calls fn with the transaction of the joint.
func (j *joint) write(ctx context.Context, fn func(*Tx) error) error {
	switch {
	case j.tx == nil:
		return ErrReadOnly
	case j.broken != nil:
		return j.broken
	}

	written, outer := j.tx.written, j.tx.ctx
	j.tx.ctx = ctx
	err := fn(j.tx)
	j.tx.ctx = outer
	if err != nil && (j.tx.written != written || !isRefusal(err)) {
		j.broken = err
	}
	return err
}

// isRefusal reports whether an error is an answer to a request, and not a failure of the
// store or of the context.
func isRefusal(err error) bool {
	_, ok := errors.AsType[interface {
		error
		Refusal()
	}](err)
	return ok
}

// apart returns an error if ctx belongs to a transaction of db, in which definitions of
// tables cannot change.
func (db *DB) apart(ctx context.Context) error {
	j, err := db.joined(ctx)
	if j != nil {
		return errDefinition
	}
	return err
}
