package sortkeytest

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// T returns the test that the database belongs to, for functions that get a database and no test, such as those that
// fill one for [Shared].
func (db *DB) T() testing.TB { return db.t }

// A life records whether a database or a test still runs.
type life struct {
	name string // of the test

	mu  sync.Mutex
	how string // it ended; "" until then
	end time.Time
}

// stop ends the life. The first call counts.
func (l *life) stop(how string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.how == "" {
		l.how, l.end = how, time.Now() //nolint:forbidigo // messages show the computer's time
	}
}

// over says whose database has ended, and when, or returns "".
func (l *life) over() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.how == "" {
		return ""
	}
	return fmt.Sprintf("the database of %s %s at %s, %v ago", l.name, l.how,
		l.end.Format("15:04:05.000"), time.Since(l.end).Round(time.Microsecond))
}
