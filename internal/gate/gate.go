// Package gate is how updates, and what needs a moment between two of them, wait for each other.
//
// A [Gate] lets any number of updates through and counts them. Whoever needs a moment between two
// of them closes it ([Gate.Pause]): that waits for those under way, and later ones wait until it is
// open again. Reads do not pass it, nor do the operations inside an update, so nothing that an
// update needs waits for somebody who waits for the update. A [Lock] is a mutex, and a [Turn] the
// context of an update while it waits for its store.
//
// All of these waits end with their context and with [Gate.End], and after [Patience] the log says
// who waits. A goroutine that would wait for the update that it is in itself gets an [InsideError]
// at once.
package gate

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/sortkey/sortkey/store"
)

// A Gate lets updates through. It is safe for concurrent use.
type Gate struct {
	// Logger gets a line for each operation that waits long. Set it before use. Default:
	// discard.
	Logger *slog.Logger

	under  atomic.Int64          // updates that are under way
	paused atomic.Pointer[pause] // nil while the gate is open
	turn   *Lock                 // held by whoever closes the gate

	shared  bool         // updates do not wait for each other
	running atomic.Int64 // functions of updates that users have given

	alive context.Context //nolint:containedctx // until the end
	kill  context.CancelCauseFunc
}

// New returns an open gate. Shared says that the store runs several updates at a time.
func New(shared bool) *Gate {
	g := &Gate{Logger: slog.New(slog.DiscardHandler), turn: NewLock(), shared: shared}
	g.alive, g.kill = context.WithCancelCause(context.Background())
	return g
}

// A pause is the time that a gate is closed.
type pause struct {
	drained chan struct{} // gets an element when the last update has ended
	over    chan struct{} // closed when the gate is open again
}

// Alive returns [store.ErrClosed] once End has been called.
func (g *Gate) Alive() error {
	if g.alive.Err() != nil {
		return store.ErrClosed
	}
	return nil
}

// End ends all waits, with [store.ErrClosed], and so does every update that comes later. It waits
// for the updates under way, but not longer than ctx.
func (g *Gate) End(ctx context.Context) error {
	g.kill(store.ErrClosed)
	resume, err := g.pauseUntil(ctx, nil)
	if err == nil {
		resume()
	}
	return err
}

// Enter lets an update through the gate. The caller calls Leave when the update has ended and
// is counted.
func (g *Gate) Enter(ctx context.Context) error {
	for {
		g.under.Add(1)
		p := g.paused.Load()
		if p == nil {
			break
		}
		g.Leave()
		if err := g.Await(ctx, p.over); err != nil {
			return err
		}
	}
	if g.alive.Err() != nil {
		g.Leave()
		return store.ErrClosed
	}
	return nil
}

// Leave ends what Enter began.
func (g *Gate) Leave() {
	if g.under.Add(-1) != 0 {
		return
	}
	if p := g.paused.Load(); p != nil {
		select {
		case p.drained <- struct{}{}:
		default: // it knows
		}
	}
}

// Pause closes the gate and waits for the updates under way, until ctx or the gate ends.
// The caller opens the gate by resume; calling that again does nothing. It must not have entered
// the gate. The error of a gate that has ended is [store.ErrClosed].
func (g *Gate) Pause(ctx context.Context) (resume func(), err error) {
	return g.pauseUntil(ctx, g.alive.Done())
}

// pauseUntil is Pause, but only ctx and done end the wait.
func (g *Gate) pauseUntil(ctx context.Context, done <-chan struct{}) (resume func(), err error) {
	if err := g.turn.takeUntil(ctx, g, done); err != nil {
		return nil, err
	}
	p := &pause{drained: make(chan struct{}, 1), over: make(chan struct{})}
	g.paused.Store(p)
	var resumed atomic.Bool
	resume = func() {
		if resumed.CompareAndSwap(false, true) {
			g.paused.Store(nil)
			close(p.over)
			g.turn.Leave()
		}
	}

	for g.under.Load() > 0 {
		if err := g.awaitUntil(ctx, done, p.drained); err != nil {
			resume()
			return nil, err
		}
	}
	return resume, nil
}

// A Lock is a mutex whose wait can end. Its channel is for those who wait: a database that nobody
// else uses can be forked in another bubble of testing/synctest than the one that opened it.
type Lock struct {
	held    atomic.Bool
	waiting atomic.Int32
	free    chan struct{} // wakes one of those who wait
}

// NewLock returns a lock that nobody holds.
func NewLock() *Lock { return &Lock{free: make(chan struct{}, 1)} }

// Take waits for the lock until ctx or the gate ends.
func (l *Lock) Take(ctx context.Context, g *Gate) error { return l.takeUntil(ctx, g, g.alive.Done()) }

// takeUntil is Take, but only ctx and done end the wait.
func (l *Lock) takeUntil(ctx context.Context, g *Gate, done <-chan struct{}) error {
	if l.held.CompareAndSwap(false, true) {
		return nil
	}
	if err := g.own(); err != nil {
		return err
	}
	defer g.complain().Stop()

	// Whoever gives the lock back now sees the one that waits, or this one sees it free.
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	for !l.held.CompareAndSwap(false, true) {
		if err := wait(ctx, done, l.free); err != nil {
			return err
		}
	}
	return nil
}

// Leave gives the lock back.
func (l *Lock) Leave() {
	l.held.Store(false)
	if l.waiting.Load() > 0 {
		select {
		case l.free <- struct{}{}:
		default: // one is being woken already
		}
	}
}
