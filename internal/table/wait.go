package table

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/sortkey/sortkey/store"
)

// patience is how long an operation waits for Updates before the log says so.
const patience = 5 * time.Second

// await waits for an element of ready, or until ctx or the database ends.
func (db *DB) await(ctx context.Context, ready <-chan struct{}) error {
	return db.awaitUntil(ctx, db.alive.Done(), ready)
}

// awaitUntil is await, but only ctx and done end the wait.
func (db *DB) awaitUntil(ctx context.Context, done, ready <-chan struct{}) error {
	select {
	case <-ready:
		return nil
	default:
	}
	if err := db.ownUpdate(); err != nil {
		return err
	}
	defer db.complain().Stop()
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-done:
		return store.ErrClosed
	}
}

// complain logs that the operation of this goroutine waits for Updates, unless it is stopped
// before its patience ends.
func (db *DB) complain() *time.Timer {
	var callers [32]uintptr
	n := runtime.Callers(3, callers[:])
	return time.AfterFunc(patience, func() {
		db.Logger.Warn("an operation waits for an Update that is under way, and goes on waiting",
			"caller", placeOf(callers[:n]), "waited", patience)
	})
}

// A turn is the context of an Update in its store. Until the function of the Update is called,
// the end of the database ends it too. As the store asks for Done only if it has to wait,
// most Updates do not pay for that.
type turn struct {
	context.Context
	db      *DB
	begun   atomic.Bool
	waiting atomic.Pointer[turnWait]
}

// A turnWait is a turn that is waited for.
type turnWait struct {
	context.Context
	cancel context.CancelCauseFunc
	stop   func()
}

func (t *turn) start(ctx context.Context, db *DB) {
	t.Context, t.db = ctx, db
	t.begun.Store(false)
	t.waiting.Store(nil)
}

// wait begins the wait for the turn, for one goroutine.
func (t *turn) wait() *turnWait {
	if w := t.waiting.Load(); w != nil {
		return w
	}
	w := new(turnWait)
	w.Context, w.cancel = context.WithCancelCause(t.Context)
	if err := t.db.ownUpdate(); err != nil {
		w.cancel(err)
	}
	closed := context.AfterFunc(t.db.alive, func() { w.cancel(store.ErrClosed) })
	timer := t.db.complain()
	w.stop = func() {
		closed()
		timer.Stop()
	}
	t.waiting.Store(w)
	return w
}

// begin ends the wait. From now on only the parent ends the context.
func (t *turn) begin() {
	if t.begun.Swap(true) {
		return // the function is called again
	}
	if w := t.waiting.Load(); w != nil {
		w.stop()
	}
}

// end releases what the turn holds.
func (t *turn) end() {
	if w := t.waiting.Load(); w != nil {
		w.stop()
		w.cancel(nil)
	}
}

// state is the context that says whether the turn has ended.
func (t *turn) state() context.Context {
	if w := t.waiting.Load(); w != nil {
		return w
	}
	return t.Context
}

// Done implements [context.Context].
func (t *turn) Done() <-chan struct{} {
	if t.begun.Load() {
		return t.state().Done()
	}
	return t.wait().Done()
}

// Err implements [context.Context].
func (t *turn) Err() error { return t.state().Err() }

// Value implements [context.Context].
func (t *turn) Value(key any) any { return t.state().Value(key) }
