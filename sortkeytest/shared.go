package sortkeytest

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/sortkey/sortkey"
)

// Shared returns a function that gives each test a copy of one database, for
// variables of a package and TestMain:
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
// Fill runs once, when the first test asks for a copy, and once more for tests in
// bubbles of testing/synctest, where time begins in the year 2000. If it fails, every
// test that asks fails with what it reported. A copy takes microseconds, see [DB.Fork].
func Shared(fill func(*DB), optFns ...func(*sortkey.Options)) func(testing.TB) *DB {
	open := func() (*DB, string) {
		f := &filling{}
		done := make(chan *DB, 1)
		go func() { // which Fatalf can end
			defer close(done)
			db := New(f, optFns...)
			fill(db)
			done <- db
		}()
		db := <-done
		if db == nil && f.report() == "" {
			f.Errorf("the function that fills it did not return")
		}
		return db, f.report()
	}
	outside, bubbled := sync.OnceValues(open), sync.OnceValues(open)
	return func(t testing.TB) *DB {
		t.Helper()
		open := outside
		if inBubble() {
			open = bubbled
		}
		db, failure := open()
		if failure != "" {
			t.Fatalf("sortkeytest: cannot fill the shared database: %s", failure)
		}
		return db.Fork(t)
	}
}

// filling is the test of a shared database while it is filled: its failures fail the
// tests that use the database. The database is never closed.
type filling struct {
	testing.TB
	mu       sync.Mutex
	failures []string
}

func (f *filling) Helper()        {}
func (f *filling) Name() string   { return "Shared" }
func (f *filling) Cleanup(func()) {}

func (f *filling) Context() context.Context { return context.Background() }

func (f *filling) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures = append(f.failures, strings.TrimPrefix(fmt.Sprintf(format, args...), "sortkeytest: "))
}

func (f *filling) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

func (f *filling) report() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.failures, "\n")
}
