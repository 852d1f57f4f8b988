package sortkeytest

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sortkey/sortkey/internal/inside"
)

// A test is the test that owns a database. Failures may be reported to it from any
// goroutine and at any time: the methods of [testing.TB] would end a goroutine that does
// not run the test, or panic once the test has ended, and with it the whole program.
type test struct {
	testing.TB
	function string // of the test; see runner
	life     *life  // of the database
	own      *life  // of the test, which may differ from the life of the database
}

// newTest returns the test of a database that ends with life.
func newTest(t testing.TB, of *life) *test {
	own := &life{name: t.Name()}
	t.Cleanup(func() { own.stop("ended with its test") })
	return &test{TB: t, function: runner(), life: of, own: own}
}

// runner returns the name of the function that the current goroutine runs: a test, a
// subtest or the function of a go statement.
func runner() string {
	var room [128]uintptr
	pcs := room[:]
	n := runtime.Callers(0, pcs)
	for n == len(pcs) { // the function is at the end
		pcs = make([]uintptr, 4*n)
		n = runtime.Callers(0, pcs)
	}
	for i := n - 1; i >= 0; i-- {
		name := runtime.FuncForPC(pcs[i] - 1).Name()
		if !slices.ContainsFunc(runners, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			return name
		}
	}
	return ""
}

// runners are the packages that start tests.
var runners = []string{"runtime.", "testing.", "testing/synctest.", "internal/synctest."}

// stopped is the panic with which a method stops that has failed and cannot end its
// goroutine. Exported functions return zero values then: see resume.
type stopped string

// resume is deferred by exported functions that may fail.
func resume() {
	switch p := recover(); p.(type) {
	case nil, stopped:
	default:
		panic(p)
	}
}

func init() { inside.TestOf = func(db any) inside.Test { return db.(*DB).t } }

// End fails the test and ends it: Fatalf for packages that cannot defer resume.
func (t *test) End(message string) {
	defer resume()
	t.TB.Helper()
	t.Fatalf("%s", message)
}

// Errorf implements [testing.TB].
func (t *test) Errorf(format string, args ...any) {
	t.TB.Helper()
	if t.own.over() == "" {
		t.TB.Errorf(format, args...)
		return
	}
	t.late(fmt.Sprintf(format, args...))
}

// Fatalf implements [testing.TB]. In a goroutine that does not run the test it panics
// with [stopped] once the failure is reported.
func (t *test) Fatalf(format string, args ...any) {
	t.TB.Helper()
	ended := t.own.over() != ""
	if !ended && runner() == t.function {
		t.TB.Fatalf(format, args...)
		return
	}
	message := fmt.Sprintf(format, args...)
	if !ended {
		message += fmt.Sprintf("\nA goroutine other than that of %s made the call. "+
			"If it is a subtest, let it use db.With(t) or db.Fork(t).", t.Name())
	}
	t.Errorf("%s", message)
	panic(stopped(message))
}

// late reports a failure after the end of the test, which can log nothing any more: to the
// standard error output. The tests above then fail.
func (t *test) late(message string) {
	if from := place(); from != "" {
		message = from + ": " + message
	}
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
