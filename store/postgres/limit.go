package postgres

import (
	"context"
	"sync"
	"time"
)

// A limit ends each operation that takes too long: at the earliest after time, at the latest after an eighth more. A
// timer for each operation would cost a sixth of a small read. So operations that begin within an eighth of time
// share a timer.
type limit struct {
	time time.Duration

	mu     sync.Mutex
	shared context.Context //nolint:containedctx // for the operations that begin before until
	until  time.Time
	end    context.CancelFunc
}

// on returns a context that also ends when the operation has taken too long, with the cause
// [context.DeadlineExceeded]. The caller must call end when the operation has ended.
func (l *limit) on(ctx context.Context) (limited context.Context, end func()) {
	limited, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(l.current(), func() { cancel(context.DeadlineExceeded) })
	return limited, func() {
		stop()
		cancel(nil)
	}
}

func (l *limit) current() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); l.shared == nil || now.After(l.until) {
		l.shared, l.end = context.WithTimeout(context.Background(), l.time+l.time/8)
		l.until = now.Add(l.time / 8)
	}
	return l.shared
}

// close ends the operations that are still running, and the timer.
func (l *limit) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.end != nil {
		l.end()
	}
}
