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
// Most turns are shorter than it takes to put a goroutine to sleep and to wake it up. So an
// Update that finds the turn taken looks again for a short while, and only then sleeps. Whoever
// comes first then gets the turn, which leaves the processors busy with work instead of with
// handing over; one that has slept for longer than patience makes the newcomers sleep behind it.
type turn struct {
	taken    atomic.Bool
	sleepers atomic.Int32
	starved  atomic.Int32  // sleepers that have lost their patience
	free     chan struct{} // wakes one sleeper
}

const (
	// looks is how often an Update looks whether the turn is free before it sleeps: a few
	// microseconds, as in sync.Mutex.
	looks    = 2000
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
		for i := 0; severalProcessors && i < looks && t.starved.Load() == 0; i++ {
			if t.try() {
				return nil
			}
		}
	}
	return t.sleep(ctx)
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
