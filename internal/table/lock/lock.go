// Package lock has the locks of a database. A wait for such a lock ends when its context ends or the database closes.
//
// A database has one readers-writer lock for updates. Each update holds its read lock. Code that needs all updates to
// stop, such as a change of a definition, holds its write lock. Reads of the database do not use the lock, and
// neither do the operations inside an update. A [Context] is the context of an update while it waits in its store. An
// operation that waits longer than [Timeout] is logged.
//
//	life := lock.NewLifetime()
//	updates := life.NewLock()
//	if err := updates.RLock(ctx); err != nil { // an update; it waits for an exclusive holder
//		return err
//	}
//	defer updates.RUnlock()
//	…
//	unlock, err := updates.Lock(ctx) // no update is under way until unlock is called
//	if err != nil {
//		return err
//	}
//	defer unlock()
package lock

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/sortkey/sortkey/store"
)

// Timeout is how long an operation waits for a lock before it is logged. The operation goes on waiting.
const Timeout = 5 * time.Second

// A Lifetime lasts from the opening of a database to its Close. When it ends, all waits for the database's locks end
// too.
type Lifetime struct {
	// Logger gets a line for each operation that waits longer than Timeout. Set it before use. Default: discard.
	Logger *slog.Logger

	alive context.Context //nolint:containedctx // until the end
	kill  context.CancelCauseFunc
}

// NewLifetime returns the lifetime of a new database.
func NewLifetime() *Lifetime {
	l := &Lifetime{Logger: slog.New(slog.DiscardHandler)}
	l.alive, l.kill = context.WithCancelCause(context.Background())
	return l
}

// Alive returns nil, or [store.ErrClosed] once End has been called.
func (l *Lifetime) Alive() error {
	if l.alive.Err() != nil {
		return store.ErrClosed
	}
	return nil
}

// End ends the lifetime: all current and later waits return [store.ErrClosed].
func (l *Lifetime) End() { l.kill(store.ErrClosed) }

// Wait waits until ready is closed, or until ctx or the lifetime ends.
func (l *Lifetime) Wait(ctx context.Context, ready <-chan struct{}) error {
	w := l.newWait(ctx)
	defer w.end()
	select {
	case <-ready:
		return nil
	case <-w.Done():
		return context.Cause(w)
	}
}

// Bound returns a context that ends with ctx and with the lifetime, for work that is not an update. Call stop to
// release its resources.
func (l *Lifetime) Bound(ctx context.Context) (bound context.Context, stop func()) {
	bound, cancel := context.WithCancelCause(ctx)
	ended := context.AfterFunc(l.alive, func() { cancel(store.ErrClosed) })
	return bound, func() {
		ended()
		cancel(nil)
	}
}

// A wait is the context of a goroutine that waits for a lock. It ends with its parent. It also ends with the
// lifetime, unless stop was called.
type wait struct {
	context.Context
	cancel context.CancelCauseFunc
	ended  func() bool
	warn   *time.Timer // logs that the operation waits
}

func (l *Lifetime) newWait(ctx context.Context) *wait {
	w := new(wait)
	w.Context, w.cancel = context.WithCancelCause(ctx)
	w.ended = context.AfterFunc(l.alive, func() { w.cancel(store.ErrClosed) })
	w.warn = l.warn()
	return w
}

// warn returns a timer that runs out after Timeout. It then logs where the program called the operation. The caller
// stops the timer.
func (l *Lifetime) warn() *time.Timer {
	callers := make([]uintptr, 64)
	callers = callers[:runtime.Callers(2, callers)]
	return time.AfterFunc(Timeout, func() {
		l.Logger.Warn("an operation waits for an update or a change of a table: one in the function of an update "+
			"needs the context of that function", "caller", caller(callers), "waited", Timeout)
	})
}

// stop ends the wait.
func (w *wait) stop() {
	w.ended()
	w.warn.Stop()
}

// end ends the wait and the context.
func (w *wait) end() {
	w.stop()
	w.cancel(nil)
}

// ours lists the name prefixes of this project's own functions, which caller skips.
var ours = []string{
	"github.com/sortkey/sortkey.", "github.com/sortkey/sortkey/internal/", "github.com/sortkey/sortkey/sdk.",
	"github.com/sortkey/sortkey/server.", "github.com/sortkey/sortkey/store/",
	"github.com/sortkey/sortkey/sortkeytest.", "github.com/aws/", "runtime.", "context.", "sync.", "iter.", "net/http.",
}

// caller returns the file and line of the program's code that called the operation.
func caller(callers []uintptr) string {
	frames := runtime.CallersFrames(callers)
	for {
		frame, more := frames.Next()
		ofOurs := false
		for _, prefix := range ours {
			ofOurs = ofOurs || strings.HasPrefix(frame.Function, prefix)
		}
		if !ofOurs && frame.Function != "" {
			return fmt.Sprintf("%s:%d", frame.File, frame.Line)
		}
		if !more {
			return "no caller in this program"
		}
	}
}

// most is the weight of an exclusive holder of the lock. A shared holder has weight 1, so at most 2^30 goroutines can
// share the lock.
const most = 1 << 30

// A Lock is a readers-writer lock: any number of goroutines share it, or one holds it exclusively. Waiters get it in
// order of arrival. It is not reentrant.
type Lock struct {
	life *Lifetime
	held *semaphore.Weighted
}

// NewLock returns a lock whose waits end with the lifetime.
func (l *Lifetime) NewLock() *Lock { return &Lock{l, semaphore.NewWeighted(most)} }

// RLock takes a share of the lock until RUnlock. The error is the cause of ctx or [store.ErrClosed].
func (l *Lock) RLock(ctx context.Context) error {
	if err := l.acquire(ctx, 1); err != nil {
		return err
	}
	if err := l.life.Alive(); err != nil {
		l.RUnlock()
		return err
	}
	return nil
}

// RUnlock gives back a share that RLock has taken.
func (l *Lock) RUnlock() { l.held.Release(1) }

// Lock takes the lock exclusively until unlock is called; further calls of unlock do nothing. The error is the cause
// of ctx or [store.ErrClosed].
func (l *Lock) Lock(ctx context.Context) (unlock func(), err error) {
	if err := l.life.Alive(); err != nil {
		return nil, err
	}
	if err := l.acquire(ctx, most); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { l.held.Release(most) }), nil
}

// Drain waits, after the end of the lifetime, until no goroutine holds the lock. Only the end of ctx ends this wait.
func (l *Lock) Drain(ctx context.Context) error {
	defer l.life.warn().Stop()
	if l.held.Acquire(ctx, most) != nil {
		return context.Cause(ctx)
	}
	l.held.Release(most)
	return nil
}

func (l *Lock) acquire(ctx context.Context, n int64) error {
	if l.held.TryAcquire(n) {
		return nil
	}
	w := l.life.newWait(ctx)
	defer w.end()
	if l.held.Acquire(w, n) != nil {
		return context.Cause(w)
	}
	return nil
}
