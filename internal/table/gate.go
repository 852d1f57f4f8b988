package table

import (
	"context"
	"sync/atomic"

	"github.com/sortkey/sortkey/store"
)

// A gate lets Updates through, any number at a time, and counts them. Whoever needs a moment
// between two Updates closes it: that waits for those under way, and later ones wait until
// it is open again. Reads do not pass it, nor do the operations inside an Update, so nothing
// that an Update needs waits for somebody who waits for the Update.
type gate struct {
	under  atomic.Int64          // Updates that are under way
	paused atomic.Pointer[pause] // nil while the gate is open
	turn   lock                  // held by whoever closes the gate
}

// A pause is the time that a gate is closed.
type pause struct {
	drained chan struct{} // gets an element when the last Update has ended
	over    chan struct{} // closed when the gate is open again
}

// enter lets an Update through the gate. The caller calls leave when the Update has ended and
// is counted.
func (db *DB) enter(ctx context.Context) error {
	g := &db.gate
	for {
		g.under.Add(1)
		p := g.paused.Load()
		if p == nil {
			break
		}
		db.leave()
		if err := db.await(ctx, p.over); err != nil {
			return err
		}
	}
	if db.alive.Err() != nil {
		db.leave()
		return store.ErrClosed
	}
	return nil
}

func (db *DB) leave() {
	g := &db.gate
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

// pause closes the gate and waits for the Updates under way, until ctx or the database ends.
// The caller opens the gate by resume; calling that again does nothing. The error of a
// closed database is [store.ErrClosed].
func (db *DB) pause(ctx context.Context) (resume func(), err error) {
	return db.pauseUntil(ctx, db.alive.Done())
}

// pauseUntil is pause, but only ctx and done end the wait.
func (db *DB) pauseUntil(ctx context.Context, done <-chan struct{}) (resume func(), err error) {
	g := &db.gate
	if err := db.awaitUntil(ctx, done, g.turn); err != nil {
		return nil, err
	}
	p := &pause{drained: make(chan struct{}, 1), over: make(chan struct{})}
	g.paused.Store(p)
	var resumed atomic.Bool
	resume = func() {
		if resumed.CompareAndSwap(false, true) {
			g.paused.Store(nil)
			close(p.over)
			g.turn.leave()
		}
	}

	for g.under.Load() > 0 {
		if err := db.awaitUntil(ctx, done, p.drained); err != nil {
			resume()
			return nil, err
		}
	}
	return resume, nil
}

// A lock is a mutex whose wait can end: it has an element while nobody holds it.
type lock chan struct{}

func newLock() lock {
	l := make(lock, 1)
	l.leave()
	return l
}

// take waits for the lock until ctx or the database ends.
func (l lock) take(ctx context.Context, db *DB) error { return db.await(ctx, l) }

func (l lock) leave() { l <- struct{}{} }
