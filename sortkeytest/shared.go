package sortkeytest

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sortkey/sortkey"
)

// Shared returns a function that gives each test a copy of one database. Call Shared for variables of a package, or
// in TestMain:
//
//	var shop = sortkeytest.Shared(func(db *sortkeytest.DB) {
//		db.Table("Orders", "customer / placed")
//		db.Put("Orders", orders)
//	})
//
//	func TestTotal(t *testing.T) {
//		t.Parallel()
//		db := shop(t)
//
// Shared calls fill once, when the first test asks for a copy. It calls fill once more for tests in bubbles of
// testing/synctest, where time begins in the year 2000. If fill fails, every test that asks for a copy fails with the
// same message. Every such test also logs what fill has logged. A copy takes microseconds; see [DB.Fork].
//
// The database that fill gets has no background work: SweepInterval in the options applies only to the copies.
func Shared(fill func(*DB), optFns ...func(*sortkey.Options)) func(testing.TB) *DB {
	outside, bubbled := &template{fill: fill, optFns: optFns}, &template{fill: fill, optFns: optFns}
	return func(t testing.TB) *DB {
		t.Helper()
		if inBubble() {
			return bubbled.fork(t)
		}
		return outside.fork(t)
	}
}

// A template is a database that the first test fills and that every test copies.
type template struct {
	fill   func(*DB)
	optFns []func(*sortkey.Options)
	once   sync.Once
	test   *filling
	db     *DB           // nil if it could not be filled
	sweep  time.Duration // the SweepInterval of copies

	// mu makes copies run one after the other. Without mu, a copy could wait for another on a channel inside the
	// database. The waiting goroutine may be in another bubble of testing/synctest than the one that opened the
	// database, and cannot use channels of that bubble.
	mu sync.Mutex
}

// fork returns a copy for a test. The first call fills the database.
func (s *template) fork(t testing.TB) *DB {
	t.Helper()
	s.once.Do(func() { s.open(t) })
	failures, logs := s.test.reports()
	for _, text := range logs {
		t.Logf("%s", text)
	}
	if failures != "" {
		t.Fatalf("sortkeytest: cannot fill the shared database: %s", failures)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.db.fork(t, func(o *sortkey.Options) { o.SweepInterval = s.sweep })
}

// open opens and fills the database.
func (s *template) open(first testing.TB) {
	s.test = &filling{TB: first}
	optFns := append(slices.Clone(s.optFns), func(o *sortkey.Options) { s.sweep, o.SweepInterval = o.SweepInterval, 0 })
	done := make(chan struct{})
	go func() { // so that Fatalf can end it
		defer close(done)
		defer func() { s.test.end(recover(), s.db != nil) }()
		db := New(s.test, optFns...)
		s.test.cleanups = nil // drop the cleanup that New has registered, as it would close the filled database
		if s.fill == nil {
			db.t.Fatalf("the function that fills it is nil")
		}
		s.fill(db)
		s.db = db
	}()
	<-done
}

// filling is the [testing.TB] of a shared database while fill runs. If it fails, every test that asks for a copy
// fails. The embedded TB, the first of these tests, has the methods that filling does not define.
type filling struct {
	testing.TB
	mu       sync.Mutex
	failures []string
	logs     []string
	cleanups []func()
}

func (f *filling) Helper()      {}
func (f *filling) Name() string { return "Shared" }

func (f *filling) Cleanup(fn func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cleanups = append(f.cleanups, fn)
}

func (f *filling) Context() context.Context { return context.Background() }

func (f *filling) Failed() bool {
	failures, _ := f.reports()
	return failures != ""
}

func (f *filling) Fail() { f.Errorf("it has failed") }

func (f *filling) Logf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.logs = append(f.logs, fmt.Sprintf(format, args...))
}

// Errorf records a failure. From now on, every test that asks for a copy fails.
func (f *filling) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures = append(f.failures, strings.TrimPrefix(fmt.Sprintf(format, args...), "sortkeytest: "))
}

// Fatalf ends the goroutine that fills the database.
func (f *filling) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

// end runs the cleanups as at the end of a test. If filling the database failed, end records why. panicked is the
// recovered panic or nil. returned reports whether fill has returned.
func (f *filling) end(panicked any, returned bool) {
	switch {
	case panicked != nil:
		f.Errorf("the function that fills it panicked: %v\n%s", panicked, debug.Stack())
	case !returned && !f.Failed():
		f.Errorf("the function that fills it did not return")
	}
	for {
		f.mu.Lock()
		n := len(f.cleanups)
		if n == 0 {
			f.mu.Unlock()
			return
		}
		fn := f.cleanups[n-1]
		f.cleanups = f.cleanups[:n-1]
		f.mu.Unlock()
		fn()
	}
}

// reports returns the text of all failures, or "" if there are none, and the logs.
func (f *filling) reports() (failures string, logs []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.failures, "\n"), slices.Clone(f.logs)
}
