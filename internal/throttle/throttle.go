// Package throttle limits the heavy work that runs at the same time, so that a processor stays free for short requests.
//
// While all processors compute, Go notices a request on a socket only when its monitor looks, up to 10 ms later. So
// the heavy work of a process shares GOMAXPROCS-1 slots, but at least one. A [Work] is work that may turn out to be
// heavy, such as a page of a scan. A Work takes a slot once it has processed a [Stretch], so small pages never wait.
// After each further stretch it passes its slot to another Work if one is waiting.
//
// While a Work holds a slot it only computes: it waits for no lock, client or other slot, and calls no user function.
// So every wait for a slot ends. If GOMAXPROCS is 1, other goroutines run between two stretches, but requests on
// sockets still wait for the monitor.
//
// Slots are only used in a process with a server: until [Serving] has been called for the first request from a
// socket, a Work neither takes slots nor lets other goroutines run.
package throttle

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Stretch is the number of bytes that work processes between two checks for waiting work.
const Stretch = 64 << 10

// serving is true once Serving has been called.
var serving atomic.Bool

// Serving records that this process answers requests on sockets, which makes work take slots from now on.
func Serving() {
	if !serving.Load() {
		serving.Store(true)
	}
}

// A Work is work of one goroutine that may turn out to be heavy. The zero Work is ready to use.
type Work struct {
	// Free makes the work need no slot. An update sets it, for example, because other updates wait for that update.
	// Free work only lets other goroutines run after each stretch.
	Free bool

	bytes int // processed in the current stretch
	holds bool
}

// Add counts processed bytes. At the end of a stretch it may wait for a slot. If ctx ends during that wait, Add
// returns the cause of ctx.
func (w *Work) Add(ctx context.Context, bytes int) error {
	if w.bytes += bytes; w.bytes < Stretch {
		return nil
	}
	w.bytes = 0
	return w.next(ctx)
}

// next begins the next stretch. It waits for a slot if the work needs one.
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

// Done gives back the slot. Call it at the end of the work, and before the goroutine waits for anything else. Call it
// even if Add has failed.
func (w *Work) Done() {
	if w.holds {
		w.holds = false
		all.leave()
	}
	w.bytes = 0
}

type exemptKey struct{}

// Exempt returns a context for work that calls user functions. Such work needs no slot, but lets other goroutines run
// after each stretch.
func Exempt(ctx context.Context) context.Context { return context.WithValue(ctx, exemptKey{}, true) }

func isExempt(ctx context.Context) bool { return ctx.Value(exemptKey{}) != nil }

// all holds the slots of this process.
var all slots

type slots struct {
	waiting atomic.Int32 // length of queue

	mu      sync.Mutex
	running int
	queue   []*waiter // in order of arrival
}

// A waiter waits for a slot by locking a mutex. A channel or a semaphore would not do: a goroutine in a bubble of
// testing/synctest must not use a channel from outside the bubble, but may unlock a mutex.
type waiter struct {
	ready  sync.Mutex // unlocked when the wait ends
	gaveUp bool
}

// limit returns the number of slots.
func limit() int { return max(runtime.GOMAXPROCS(0)-1, 1) }

// take waits for a slot and takes it. The caller gives it back with leave.
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

// giveUp ends the wait of w without a slot, unless w has got one.
func (s *slots) giveUp(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.queue, w); i >= 0 {
		w.gaveUp = true
		s.dequeue(i)
	}
}

// dequeue removes the waiter at index i and wakes it. The caller holds s.mu.
func (s *slots) dequeue(i int) {
	w := s.queue[i]
	s.queue = slices.Delete(s.queue, i, i+1)
	s.waiting.Store(int32(len(s.queue)))
	w.ready.Unlock()
}

// leave gives back a slot, and gives the free slots to waiters. More than one may be free, as GOMAXPROCS may have
// grown.
func (s *slots) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	for most := limit(); len(s.queue) > 0 && s.running < most; {
		s.running++
		s.dequeue(0)
	}
}
