package memory

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A turn is the right to write, which one Update has at a time. It is a mutex whose wait can
// be cancelled.
//
// Most turns are shorter than it takes to put a goroutine to sleep and to wake it up. So one
// Update that finds the turn taken looks again for a short while, and only then sleeps; others
// that come meanwhile sleep at once. Whoever comes first then gets the turn, which leaves the
// processors busy with work instead of with handing over. But the sleeper that has waited longest
// is handed the turn once it has slept for longer than patience.
type turn struct {
	taken   atomic.Bool
	looking atomic.Bool // an Update looks again and again

	sleeping atomic.Int32 // length of queue
	mu       sync.Mutex
	queue    []*sleeper // the one that has waited longest is first
}

// A sleeper is an Update that waits.
type sleeper struct {
	began  time.Time
	wake   chan struct{} // the turn may be free, or is handed over
	handed atomic.Bool   // it has the turn
}

// A waiter is a context that wants to know of each wait.
type waiter interface {
	// Waiting begins a wait. It returns the context of the wait, and a function that ends it.
	Waiting() (ctx context.Context, over func())
}

const (
	// looks is how often an Update looks whether the turn is free before it sleeps: some ten
	// microseconds, as long as waking it up takes. A turn takes one or two, or more if it has
	// to help the garbage collector.
	looks    = 15_000
	patience = time.Millisecond
)

var severalProcessors = runtime.NumCPU() > 1

func (t *turn) try() bool { return !t.taken.Load() && t.taken.CompareAndSwap(false, true) }

// take waits for the turn, or until ctx ends.
func (t *turn) take(ctx context.Context) error {
	if t.try() || severalProcessors && t.look() {
		return nil
	}
	return t.sleep(ctx)
}

// look looks for a short while whether the turn is free, and takes it then.
func (t *turn) look() bool {
	if !t.looking.CompareAndSwap(false, true) {
		return false
	}
	defer t.looking.Store(false)

	for range looks {
		if t.try() {
			return true
		}
	}
	return false
}

func (t *turn) sleep(ctx context.Context) error {
	if w, ok := ctx.(waiter); ok {
		waiting, over := w.Waiting()
		defer over()
		ctx = waiting
	}
	s := &sleeper{began: time.Now(), wake: make(chan struct{}, 1)}
	t.mu.Lock()
	t.queue = append(t.queue, s)
	t.sleeping.Add(1)
	t.mu.Unlock()

	for !t.try() {
		select {
		case <-s.wake:
			if s.handed.Load() {
				return nil
			}
		case <-ctx.Done():
			t.mu.Lock()
			handed := s.handed.Load()
			t.remove(s)
			t.wakeFirst() // it may have been woken in vain
			t.mu.Unlock()
			if handed {
				t.leave()
			}
			return context.Cause(ctx)
		}
	}

	t.mu.Lock()
	t.remove(s)
	t.mu.Unlock()
	return nil
}

// remove takes a sleeper off the queue, unless it has been handed the turn. The caller holds mu.
func (t *turn) remove(s *sleeper) {
	if i := slices.Index(t.queue, s); i >= 0 {
		t.queue = slices.Delete(t.queue, i, i+1)
		t.sleeping.Add(-1)
	}
}

// wakeFirst wakes the first sleeper. The caller holds mu.
func (t *turn) wakeFirst() {
	if len(t.queue) > 0 {
		select {
		case t.queue[0].wake <- struct{}{}:
		default: // it is being woken already
		}
	}
}

// leave gives the turn back, or hands it over. A sleeper that comes after the store sees it; one that came before
// it is counted.
func (t *turn) leave() {
	if t.sleeping.Load() > 0 && t.handOver() {
		return
	}
	t.taken.Store(false)
	if t.sleeping.Load() > 0 {
		t.mu.Lock()
		t.wakeFirst()
		t.mu.Unlock()
	}
}

// handOver gives the turn to the first sleeper if it has lost its patience.
func (t *turn) handOver() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 || time.Since(t.queue[0].began) <= patience {
		return false
	}
	s := t.queue[0]
	s.handed.Store(true)
	t.wakeFirst()
	t.remove(s)
	return true
}
