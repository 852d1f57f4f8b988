package apitest

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/store"
)

// A subject is a database on which tests make calls that may hang.
type subject struct {
	db    *sortkey.DB
	items *sortkey.TableOf[thing]
	dir   string   // for snapshots of this subject only
	last  []func() // to be called after Close
}

// newSubject opens a database over a store, or over a new one in memory if st is nil.
func newSubject(t *testing.T, st store.Store, dir string) *subject {
	t.Helper()
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	return &subject{db: db, items: sortkey.Table[thing](db, "Items"), dir: dir}
}

// A thing is an item of the tables Items and Other.
type thing struct {
	Box   string `dynamodbav:"box"`
	Place int    `dynamodbav:"place"`
	Kind  string `dynamodbav:"kind"`
	Until int64  `dynamodbav:"until,omitempty"`
}

// fill creates the tables, and puts things in box a.
func (s *subject) fill(ctx context.Context, things int) error {
	err := s.db.CreateTable(ctx, "Items", "box / place:N",
		sortkey.Global("ByKind", "kind / place:N"), sortkey.TimeToLive("until"), sortkey.Stream())
	if err != nil {
		return err
	}
	if err := s.db.CreateTable(ctx, "Other", "box / place:N"); err != nil {
		return err
	}
	return s.db.Update(ctx, func(ctx context.Context) error {
		for place := range things {
			if err := s.items.Put(ctx, thing{Box: "a", Place: place, Kind: "red", Until: 1}); err != nil {
				return err
			}
		}
		return nil
	})
}

// transact calls fn in a View or an Update.
func (s *subject) transact(ctx context.Context, view bool, fn func(ctx context.Context) error) error {
	if view {
		return s.db.View(ctx, fn)
	}
	return s.db.Update(ctx, fn)
}

// use makes calls that take every lock. They hang if an earlier call has failed to release one.
func (s *subject) use(ctx context.Context) error {
	if err := s.db.CreateTable(ctx, "Last", "box / place:N"); err != nil {
		return err
	}
	last := sortkey.Table[thing](s.db, "Last")
	return s.db.Update(ctx, func(ctx context.Context) error {
		if err := last.Put(ctx, thing{Box: "a", Place: 1}); err != nil {
			return err
		}
		_, err := last.Get(ctx, "a", 1)
		return err
	})
}

// timeout is how long a call may take before it counts as hanging.
const timeout = time.Minute

// A watch records the names of calls that hang.
type watch struct{ hung string }

// begun is a function that begin has started in a goroutine of its own.
type begun struct {
	name string
	err  chan error
}

func begin(name string, fn func() error) begun {
	b := begun{name, make(chan error, 1)}
	go func() { b.err <- fn() }()
	return b
}

// inTime calls fn and returns its error. If fn takes longer than timeout, inTime records in w that the call with
// this name hangs, and returns nil.
func (w *watch) inTime(name string, fn func() error) error {
	return w.wait(begin(name, fn), time.After(timeout))
}

// wait waits for a function and returns its error. If the function has not returned when limit fires, wait records
// its name as hanging and returns nil.
func (w *watch) wait(b begun, limit <-chan time.Time) error {
	select {
	case err := <-b.err:
		return err
	case <-limit:
	}
	if w.hung != "" {
		w.hung += " and "
	}
	w.hung += b.name
	return nil
}

// label is the key of the profiler label of goroutines that work on a subject. Goroutines inherit it from the one
// that starts them.
const label = "subject"

// labelled returns the stacks of all goroutines that have the label, by its value. It leaves out all functions except
// those of package sync and of this module, and among these the functions of this package.
func labelled() map[string]string {
	var all bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		return nil
	}

	stacks := map[string]string{}
	for block := range strings.SplitSeq(all.String(), "\n\n") {
		_, name, ok := strings.Cut(block, `"`+label+`":"`)
		if !ok {
			continue
		}

		name, _, _ = strings.Cut(name, `"`)
		var b strings.Builder
		for line := range strings.Lines(block) {
			fields := strings.Fields(line)
			if len(fields) < 4 || fields[0] != "#" || strings.Contains(line, "apitest.") {
				continue
			}
			function, _, _ := strings.Cut(fields[2], "+0x")
			if strings.Contains(function, "github.com/sortkey/") || strings.HasPrefix(function, "sync.") {
				fmt.Fprintf(&b, "    %s %s\n", function, filepath.Base(fields[3]))
			}
		}

		if b.Len() > 0 {
			stacks[name] += "  goroutine\n" + b.String()
		}
	}
	return stacks
}
