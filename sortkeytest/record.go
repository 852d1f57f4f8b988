package sortkeytest

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// A Recording holds the calls of all clients of a database since [DB.Record]. It
// is safe for concurrent use.
type Recording struct {
	t    testing.TB
	stop func()

	mu    sync.Mutex
	calls []*sortkey.Event
}

// Record records the calls that begin from now on, to check what code reads and what its calls cost. If the test
// fails, it logs the calls.
func (db *DB) Record() *Recording {
	r := &Recording{t: db.t}
	r.stop = db.DB.Observe((*recorder)(r))
	db.t.Cleanup(func() {
		r.stop()
		switch {
		case !db.t.Failed():
		case len(r.Calls()) == 0:
			db.t.Logf("sortkeytest: there were no calls")
		default:
			db.t.Logf("sortkeytest: the calls were\n%s", r)
		}
	})
	return r
}

// A recorder is a Recording as a [sortkey.Observer]. It is a type of its own so that Begin and End are not exported
// methods of Recording.
type recorder Recording

// Begin implements [sortkey.Observer].
func (*recorder) Begin(context.Context, *sortkey.Event) {}

// End implements [sortkey.Observer].
func (r *recorder) End(_ context.Context, e *sortkey.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, e)
}

// Stop ends the recording, so that later calls do not count.
func (r *Recording) Stop() { r.stop() }

// Calls returns the events of the calls so far, in the order in which the calls ended. Use it for checks for which
// there is no method.
func (r *Recording) Calls() []*sortkey.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// Count returns how often the operations were called. Without operations it returns the number of all calls.
func (r *Recording) Count(operations ...string) (n int) {
	r.t.Helper()
	checkNames(r.t, operations)
	for _, e := range r.Calls() {
		if len(operations) == 0 || slices.Contains(operations, e.Operation) {
			n++
		}
	}
	return n
}

// Never fails the test if one of the operations was called since [DB.Record]. To fail at the call itself, use
// [DB.Forbid].
func (r *Recording) Never(operations ...string) {
	r.t.Helper()
	checkNames(r.t, operations)
	for _, e := range r.Calls() {
		if slices.Contains(operations, e.Operation) {
			r.t.Errorf("sortkeytest: %s was called: %s", e.Operation, describe(e))
		}
	}
}

// Only fails the test if a call used a table that is not in the list.
func (r *Recording) Only(tables ...string) {
	r.t.Helper()
	for _, e := range r.Calls() {
		for _, table := range e.Tables {
			if !slices.Contains(tables, table) {
				r.t.Errorf("sortkeytest: table %s was used: %s", table, describe(e))
			}
		}
	}
}

// AtMost fails the test if the calls so far have consumed more than the given number of capacity units in total.
func (r *Recording) AtMost(units float64) {
	r.t.Helper()
	total := 0.0
	for _, e := range r.Calls() {
		total += consumed(e)
	}
	if total > units {
		r.t.Errorf("sortkeytest: the calls consumed %s, want at most %v\n%s", countUnits(total), units, r)
	}
}

// String returns a line for each call, for logs.
func (r *Recording) String() string {
	var b strings.Builder
	for _, e := range r.Calls() {
		b.WriteString(describe(e))
		b.WriteByte('\n')
	}
	return b.String()
}

func consumed(e *sortkey.Event) (units float64) {
	for _, u := range e.Units {
		units += u.Units
	}
	return units
}

// countUnits describes a number of capacity units, as in "1 unit" or "2.5 units".
func countUnits(n float64) string {
	if n == 1 {
		return "1 unit"
	}
	return fmt.Sprintf("%v units", n)
}

func describe(e *sortkey.Event) string {
	line := strings.TrimSuffix(e.Operation+" "+strings.Join(e.Tables, ", "), " ")
	for _, trace := range e.Traces() {
		line += fmt.Sprintf(" [%s]", trace.Slice())
	}
	if e.Examined > 0 {
		line += fmt.Sprintf(", %d of %s returned", e.Returned, text.Count(e.Examined, "row"))
	}
	if units := consumed(e); units > 0 {
		line += ", " + countUnits(units)
	}
	if e.Error != "" {
		line += ", " + e.Error + ": " + e.Message
	}
	return line
}

// Forbid fails the test as soon as one of the operations is called, such as Scan in code that should only query.
func (db *DB) Forbid(operations ...string) {
	db.t.Helper()
	checkNames(db.t, operations)
	db.t.Cleanup(db.DB.Observe(&ban{db.t, operations, caller()}))
}

// caller returns the file and line from which an exported method was called, such as service_test.go:42. Only the
// exported method itself may call it.
func caller() string {
	_, file, line, _ := runtime.Caller(2)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}

// checkNames fails the test if one of the names is not an operation of DynamoDB.
func checkNames(t testing.TB, operations []string) {
	t.Helper()
	var known []string
	for _, op := range wire.Operations() {
		known = append(known, op.String())
	}
	for _, name := range operations {
		if !slices.Contains(known, name) {
			t.Fatalf("sortkeytest: unknown operation %q: %s", name, text.DidYouMean(name, known))
		}
	}
}

type ban struct {
	t          testing.TB
	operations []string
	set        string // file and line at which Forbid was called
}

// Begin implements [sortkey.Observer].
func (b *ban) Begin(_ context.Context, e *sortkey.Event) {
	if slices.Contains(b.operations, e.Operation) {
		b.t.Errorf("sortkeytest: %s is forbidden by the call of Forbid at %s, but was called: %s",
			e.Operation, b.set, describe(e))
	}
}

// End implements [sortkey.Observer].
func (*ban) End(context.Context, *sortkey.Event) {}
