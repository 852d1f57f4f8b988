package sortkeytest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// A test is the test that owns a database. Failures may be reported to it at any time: the
// methods of [testing.TB] would panic once the test has ended, and with it the whole program.
type test struct {
	testing.TB
	life *life // of the database
}

// newTest returns the test of a database that ends with life.
func newTest(t testing.TB, of *life) *test { return &test{TB: t, life: of} }

// stopped is the panic with which a method stops that has failed after the end of its
// test. Exported functions return zero values then: see resume.
type stopped string

// resume is deferred by exported functions that may fail.
func resume() {
	switch p := recover(); p.(type) {
	case nil, stopped:
	default:
		panic(p)
	}
}

// T returns the test that the database belongs to, for functions that get a database and no test, such as those that
// fill one for [Shared]. Its Fatalf never ends the program: after the end of the test it ends the goroutine.
func (db *DB) T() testing.TB { return outside{db.t} }

// An outside is a test as other packages get it.
type outside struct{ *test }

// Fatalf implements [testing.TB].
func (t outside) Fatalf(format string, args ...any) {
	t.Helper()
	defer func() {
		switch p := recover(); p.(type) {
		case nil:
		case stopped:
			runtime.Goexit()
		default:
			panic(p)
		}
	}()
	t.test.Fatalf(format, args...)
}

// Errorf implements [testing.TB].
func (t *test) Errorf(format string, args ...any) {
	t.TB.Helper()
	if !t.inTime(func() { t.TB.Helper(); t.TB.Errorf(format, args...) }) {
		t.late(fmt.Sprintf(format, args...))
	}
}

// Logf implements [testing.TB].
func (t *test) Logf(format string, args ...any) {
	t.TB.Helper()
	if !t.inTime(func() { t.TB.Helper(); t.TB.Logf(format, args...) }) {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
	}
}

// Fatalf implements [testing.TB]. After the end of the test it panics with [stopped] once the failure is
// reported.
func (t *test) Fatalf(format string, args ...any) {
	t.TB.Helper()
	message := fmt.Sprintf(format, args...)
	if !t.inTime(func() { t.TB.Helper(); t.TB.Fatalf("%s", message) }) {
		t.late(message)
	}
	panic(stopped(message))
}

// inTime calls a function that reports to a test, and reports whether the test still runs: package
// testing panics once the test has ended.
func (t *test) inTime(report func()) (ok bool) {
	t.TB.Helper()
	defer func() {
		switch p := recover(); text := p.(type) {
		case nil:
		case string:
			if ok = false; !strings.HasPrefix(text, "Log in goroutine after ") &&
				!strings.HasPrefix(text, "Fail in goroutine after ") {
				panic(p)
			}
		default:
			panic(p)
		}
	}()
	report()
	return true
}

// late reports a failure after the end of the test, which can log nothing any more: to the
// standard error output. The tests above then fail.
func (t *test) late(message string) {
	fmt.Fprintln(os.Stderr, message)
	defer func() { _ = recover() }() // of Fail, once the tests above know
	t.TB.Fail()
}

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
