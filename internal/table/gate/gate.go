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
//
//	if err := g.Enter(ctx); err != nil { // an update; it waits while the gate is closed
//		return err
//	}
//	defer g.Leave()
//	…
//	resume, err := g.Pause(ctx) // no update is under way until resume is called
//	if err != nil {
//		return err
//	}
//	defer resume()
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
	turn   Lock                  // held by whoever closes the gate

	numbers numbers
	running atomic.Int64 // functions of updates that users have given

	ended atomic.Bool
	alive context.Context //nolint:containedctx // until the end; its channel is for those who wait
	kill  context.CancelCauseFunc
}

// New returns an open gate.
func New() *Gate {
	g := &Gate{Logger: slog.New(slog.DiscardHandler)}
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
	if g.ended.Load() {
		return store.ErrClosed
	}
	return nil
}

// End ends all waits, with [store.ErrClosed], and so does every update that comes later. It waits
// for the updates under way, but not longer than ctx.
func (g *Gate) End(ctx context.Context) error {
	g.ended.Store(true)
	g.kill(store.ErrClosed)
	resume, err := g.pauseUntil(ctx, func() <-chan struct{} { return nil })
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
	if g.ended.Load() {
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
	if err := g.Alive(); err != nil {
		return nil, err
	}
	return g.pauseUntil(ctx, g.alive.Done)
}

// pauseUntil is Pause, but only ctx and done end the wait.
func (g *Gate) pauseUntil(ctx context.Context, done func() <-chan struct{}) (resume func(), err error) {
	if err := g.turn.take(ctx, g, done); err != nil {
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
		if err := g.awaitUntil(ctx, done(), p.drained); err != nil {
			resume()
			return nil, err
		}
	}
	return resume, nil
}
