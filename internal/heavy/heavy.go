// Package heavy bounds how much heavy work runs at once, so that a processor stays free for short requests.
//
// While every processor computes, Go notices a request on a socket only after 10 ms, when its monitor
// looks. So all heavy work of a process together has one slot less than GOMAXPROCS, at least one. A [Work]
// is work that may turn out to be heavy, such as a page of a scan: it takes a slot once it has processed a
// [Stretch], so that small pages never wait, and after each further stretch it makes way for work that waits.
//
// Whoever holds a slot only computes: it waits for no lock, no client and no other slot, and calls no
// function of the user. So every wait for a slot ends. With GOMAXPROCS 1 work lets other goroutines run
// between two stretches, but requests on sockets still wait for the monitor.
//
// All of this is for a process with a server: until the first request has come through a socket ([Serving]), work
// neither waits nor makes way.
package heavy

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Stretch is how many bytes work processes at a time.
const Stretch = 64 << 10

// serving says that this process has a server.
var serving atomic.Bool

// Serving says that this process answers requests on sockets, for as long as it lives.
func Serving() {
	if !serving.Load() {
		serving.Store(true)
	}
}

// A Work is work of one goroutine that may turn out to be heavy. The zero Work is ready to use.
type Work struct {
	// Free says that the work needs no slot, as in a transaction, for which others wait. It only lets others run
	// after each stretch.
	Free bool

	bytes int // of the current stretch
	holds bool
}

// Add counts bytes that are processed. It waits for a slot at the beginning of a stretch if it must; the
// error is the cause of ctx.
func (w *Work) Add(ctx context.Context, bytes int) error {
	if w.bytes += bytes; w.bytes < Stretch {
		return nil
	}
	w.bytes = 0
	return w.next(ctx)
}

// next begins the next stretch.
func (w *Work) next(ctx context.Context) error {
	if !serving.Load() {
		return nil
	}
	if w.Free || w.holds && all.waiting.Load() == 0 || isExempt(ctx) {
		runtime.Gosched()
		return nil
	}
	w.Done()
	if err := all.take(ctx); err != nil {
		return err
	}
	w.holds = true
	return nil
}

// Done ends the work, or a part of it before the goroutine waits for something else. It must be called
// also if Add has failed.
func (w *Work) Done() {
	if w.holds {
		w.holds = false
		all.leave()
	}
	w.bytes = 0
}

type exemptKey struct{}

// Exempt returns a context for work in which functions of the user are called. It needs no slot, but lets
// others run after each stretch.
func Exempt(ctx context.Context) context.Context { return context.WithValue(ctx, exemptKey{}, true) }

func isExempt(ctx context.Context) bool { return ctx.Value(exemptKey{}) != nil }

// all are the slots of this process.
var all slots

type slots struct {
	waiting atomic.Int32 // length of queue

	mu      sync.Mutex
	running int
	queue   []*waiter // the first one is the next
}

// A waiter waits for a slot. It waits at a mutex, as goroutines inside and outside of bubbles of
// testing/synctest may wake one another there, but not at a channel, nor at a semaphore, which has channels.
type waiter struct {
	ready  sync.Mutex // unlocked when the wait ends
	gaveUp bool
}

// limit returns how many slots there are.
func limit() int { return max(runtime.GOMAXPROCS(0)-1, 1) }

// take waits for a slot. Leave gives it back.
func (s *slots) take(ctx context.Context) error {
	s.mu.Lock()
	if s.running < limit() && len(s.queue) == 0 {
		s.running++
		s.mu.Unlock()
		return nil
	}
	w := new(waiter)
	w.ready.Lock()
	s.queue = append(s.queue, w)
	s.waiting.Store(int32(len(s.queue)))
	s.mu.Unlock()

	stop := context.AfterFunc(ctx, func() { s.giveUp(w) })
	w.ready.Lock()
	stop()
	if w.gaveUp {
		return context.Cause(ctx)
	}
	return nil
}

// giveUp ends a wait, unless it has ended.
func (s *slots) giveUp(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.queue, w); i >= 0 {
		w.gaveUp = true
		s.dequeue(i)
	}
}

// dequeue wakes a waiter. The caller holds s.mu.
func (s *slots) dequeue(i int) {
	w := s.queue[i]
	s.queue = slices.Delete(s.queue, i, i+1)
	s.waiting.Store(int32(len(s.queue)))
	w.ready.Unlock()
}

// leave gives a slot back, and those that are free to who waits. GOMAXPROCS may have changed.
func (s *slots) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	for most := limit(); len(s.queue) > 0 && s.running < most; {
		s.running++
		s.dequeue(0)
	}
}
