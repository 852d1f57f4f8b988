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
	goroutine string // that runs the test; see goroutineOf
	life      *life  // of the database
}

// newTest returns the test of a database that ends with life.
func newTest(t testing.TB, of *life) *test { return &test{TB: t, goroutine: goroutineOf(t), life: of} }

// goroutineOf returns a text for the current goroutine if t can be ended there, which no other
// has while the test runs, or "". For a test of package testing it is the number of a goroutine
// that the package has started. Other frameworks may run a test in several goroutines one after
// the other, so their text is the name of the function that the goroutine runs.
func goroutineOf(t testing.TB) string {
	function, started := runner()
	switch t.(type) {
	case *testing.T, *testing.B, *testing.F:
	default:
		return function
	}
	if !started {
		return ""
	}
	var room [64]byte
	line := string(room[:runtime.Stack(room[:], false)])
	number, _, _ := strings.Cut(line, " [") // as in "goroutine 7 [running]:"
	return number
}

// runner returns the name of the function that the current goroutine runs: a test, a
// subtest or the function of a go statement. Started reports whether package testing runs it.
func runner() (function string, started bool) {
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
			return name, started
		}
		started = started || strings.HasPrefix(name, "testing.")
	}
	return "", started
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

// Fatalf implements [testing.TB]. In a goroutine that does not run the test, and after its
// end, it panics with [stopped] once the failure is reported.
func (t *test) Fatalf(format string, args ...any) {
	t.TB.Helper()
	message := fmt.Sprintf(format, args...)
	if t.goroutine != "" && goroutineOf(t.TB) == t.goroutine {
		if !t.inTime(func() { t.TB.Helper(); t.TB.Fatalf("%s", message) }) {
			t.late(message)
		}
		panic(stopped(message))
	}
	if t.life.over() == "" {
		message += fmt.Sprintf("\nA goroutine other than that of %s made the call. "+
			"If it is a subtest, let it use db.With(t) or db.Fork(t).", t.Name())
	}
	t.Errorf("%s", message)
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
