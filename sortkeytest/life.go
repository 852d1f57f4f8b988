package sortkeytest

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// T returns the test that the database belongs to, for functions that get a database but no test, such as the
// function that fills a database for [Shared].
func (db *DB) T() testing.TB { return db.t }

// A life records when and how the database of a test has ended.
type life struct {
	name string // of the test

	mu  sync.Mutex
	how string // how it ended, such as "was closed"; "" until then
	end time.Time
}

// stop records how the database has ended. Only the first call has an effect.
func (l *life) stop(how string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.how == "" {
		l.how, l.end = how, time.Now() //nolint:forbidigo // messages show the computer's time
	}
}

// over returns a text for messages that says which test's database has ended, how and when. It returns "" while the
// database is open.
func (l *life) over() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.how == "" {
		return ""
	}
	return fmt.Sprintf("the database of %s %s at %s, %v ago", l.name, l.how,
		l.end.Format("15:04:05.000"), time.Since(l.end).Round(time.Microsecond))
}
