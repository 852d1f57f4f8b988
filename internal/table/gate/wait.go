package gate

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/sortkey/sortkey/store"
)

// Patience is how long an operation waits for updates before the log says so.
const Patience = 5 * time.Second

// Await waits for an element of ready, or until ctx or the gate ends.
func (g *Gate) Await(ctx context.Context, ready <-chan struct{}) error {
	return g.awaitUntil(ctx, g.alive.Done(), ready)
}

// awaitUntil is Await, but only ctx and done end the wait.
func (g *Gate) awaitUntil(ctx context.Context, done, ready <-chan struct{}) error {
	select {
	case <-ready:
		return nil
	default:
	}
	if err := g.OutsideUpdates(); err != nil {
		return err
	}
	defer g.complain().Stop()
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-done:
		return store.ErrClosed
	}
}

// complain logs that the operation of this goroutine waits for updates, unless it is stopped
// before its patience ends.
func (g *Gate) complain() *time.Timer {
	callers := stack()
	return time.AfterFunc(Patience, func() {
		g.Logger.Warn("an operation waits for an update or a change of a table, and goes on waiting",
			"caller", placeOf(callers), "waited", Patience)
	})
}

// A Turn is the context of an update in its store. Until the function of the update is called,
// the end of the gate ends it too. As the store asks for Done only if it has to wait,
// most updates do not pay for that.
type Turn struct {
	context.Context
	gate      *Gate
	begun     atomic.Bool
	waiting   atomic.Pointer[turnWait]
	operation context.Context // of the operation that runs in the function, or nil
}

// A turnWait is a Turn that is waited for.
type turnWait struct {
	context.Context
	cancel context.CancelCauseFunc
	stop   func()
}

// Start makes t the turn of an update with a context, whose goroutine is outside of updates. It may be used again
// after End.
func (t *Turn) Start(ctx context.Context, g *Gate) {
	t.Context, t.gate = ctx, g
	t.begun.Store(false)
	t.waiting.Store(nil)
	t.operation = nil
}

// Within sets the context of the operation that runs in the function of the update, whose waits end with it too. It
// returns the one before. Only one operation runs at a time.
func (t *Turn) Within(ctx context.Context) (before context.Context) {
	before, t.operation = t.operation, ctx
	return before
}

// wait begins the wait for the turn, for one goroutine.
func (t *Turn) wait() *turnWait {
	if w := t.waiting.Load(); w != nil {
		return w
	}
	w := t.newWait()
	t.waiting.Store(w)
	return w
}

func (t *Turn) newWait() *turnWait {
	w := new(turnWait)
	w.Context, w.cancel = context.WithCancelCause(t.Context)
	closed := context.AfterFunc(t.gate.alive, func() { w.cancel(store.ErrClosed) })
	timer := t.gate.complain()
	w.stop = func() {
		closed()
		timer.Stop()
	}
	return w
}

// Wait begins the wait for a store that does more before it calls the function than wait for a
// turn. It returns the context for it.
func (t *Turn) Wait() context.Context { return t.wait() }

// Waiting begins a wait of the store inside the function of the update. It returns the context of the wait, which ends
// with the gate and the running operation too, and a function that ends the wait.
func (t *Turn) Waiting() (ctx context.Context, over func()) {
	w := t.newWait()
	ended := func() bool { return true }
	if op := t.operation; op != nil {
		ended = context.AfterFunc(op, func() { w.cancel(context.Cause(op)) })
	}
	return w, func() {
		ended()
		w.stop()
		w.cancel(nil)
	}
}

// Begin ends the wait. From now on only the parent ends the context.
func (t *Turn) Begin() {
	if t.begun.Swap(true) {
		return // the function is called again
	}
	if w := t.waiting.Load(); w != nil {
		w.stop()
	}
}

// End releases what the turn holds.
func (t *Turn) End() {
	if w := t.waiting.Load(); w != nil {
		w.stop()
		w.cancel(nil)
	}
}

// state is the context that says whether the turn has ended.
func (t *Turn) state() context.Context {
	if w := t.waiting.Load(); w != nil {
		return w
	}
	return t.Context
}

// Done implements [context.Context].
func (t *Turn) Done() <-chan struct{} {
	if t.begun.Load() {
		return t.state().Done()
	}
	return t.wait().Done()
}

// Err implements [context.Context].
func (t *Turn) Err() error { return t.state().Err() }

// Value implements [context.Context].
func (t *Turn) Value(key any) any { return t.state().Value(key) }
