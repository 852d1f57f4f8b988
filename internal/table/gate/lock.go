package gate

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// A Lock is a mutex whose wait can end. The zero Lock is free. While nobody waits for it, it needs
// no channel, so that bubbles of testing/synctest can use it in turn.
type Lock struct {
	held    atomic.Bool
	waiting atomic.Int32

	mu      sync.Mutex
	waiters []chan struct{} // those to wake, the first one first
}

func (l *Lock) try() bool { return l.held.CompareAndSwap(false, true) }

// Take waits for the lock until ctx or the gate ends.
func (l *Lock) Take(ctx context.Context, g *Gate) error { return l.take(ctx, g, g.alive.Done) }

func (l *Lock) take(ctx context.Context, g *Gate, done func() <-chan struct{}) error {
	if l.try() {
		return nil
	}
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	for {
		woken := make(chan struct{})
		l.mu.Lock()
		l.waiters = append(l.waiters, woken)
		l.mu.Unlock()
		if l.try() { // it was given back meanwhile
			l.cancel(woken)
			return nil
		}
		if err := g.awaitUntil(ctx, done(), woken); err != nil {
			l.cancel(woken)
			return err
		}
		if l.try() {
			return nil
		}
	}
}

// cancel ends the wait of a waiter. If it was woken, the next one is.
func (l *Lock) cancel(woken chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.waiters, woken)
	if i >= 0 {
		l.waiters = slices.Delete(l.waiters, i, i+1)
	} else if !l.held.Load() {
		l.wake()
	}
}

// wake wakes the first waiter. The caller holds l.mu.
func (l *Lock) wake() {
	if len(l.waiters) > 0 {
		close(l.waiters[0])
		l.waiters = slices.Delete(l.waiters, 0, 1)
	}
}

// Leave gives the lock back.
func (l *Lock) Leave() {
	l.held.Store(false)
	if l.waiting.Load() > 0 {
		l.mu.Lock()
		l.wake()
		l.mu.Unlock()
	}
}
