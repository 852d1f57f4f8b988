package memory

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// A turn is the right to write, which one Update has at a time. It is a mutex whose wait can
// be cancelled.
//
// Most turns are shorter than it takes to put a goroutine to sleep and to wake it up. So one
// Update that finds the turn taken looks again for a short while, and only then sleeps; others
// that come meanwhile sleep at once. Whoever comes first then gets the turn, which leaves the
// processors busy with work instead of with handing over; one that has slept for longer than
// patience makes the newcomers sleep behind it.
type turn struct {
	taken    atomic.Bool
	looking  atomic.Bool // an Update looks again and again
	sleepers atomic.Int32
	starved  atomic.Int32  // sleepers that have lost their patience
	free     chan struct{} // wakes one sleeper
}

const (
	// looks is how often an Update looks whether the turn is free before it sleeps: some ten
	// microseconds, as long as waking it up takes. A turn takes one or two, or more if it has
	// to help the garbage collector.
	looks    = 15_000
	patience = time.Millisecond
)

var severalProcessors = runtime.NumCPU() > 1

func newTurn() *turn { return &turn{free: make(chan struct{}, 1)} }

func (t *turn) try() bool { return !t.taken.Load() && t.taken.CompareAndSwap(false, true) }

// take waits for the turn, or until ctx ends.
func (t *turn) take(ctx context.Context) error {
	if t.starved.Load() == 0 {
		if t.try() {
			return nil
		}
		if severalProcessors && t.look() {
			return nil
		}
	}
	return t.sleep(ctx)
}

// look looks for a short while whether the turn is free, and takes it then.
func (t *turn) look() bool {
	if !t.looking.CompareAndSwap(false, true) {
		return false
	}
	defer t.looking.Store(false)

	for i := 0; i < looks && t.starved.Load() == 0; i++ {
		if t.try() {
			return true
		}
	}
	return false
}

func (t *turn) sleep(ctx context.Context) error {
	t.sleepers.Add(1)
	defer t.sleepers.Add(-1)
	began, starved := time.Now(), false
	for {
		if t.try() {
			return nil
		}
		if !starved && time.Since(began) > patience {
			starved = true
			t.starved.Add(1)
			defer t.starved.Add(-1)
		}
		select {
		case <-t.free:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// leave gives the turn back. A sleeper that comes after the store sees it; one that came
// before it is counted.
func (t *turn) leave() {
	t.taken.Store(false)
	if t.sleepers.Load() > 0 {
		select {
		case t.free <- struct{}{}:
		default: // one is being woken already
		}
	}
}
