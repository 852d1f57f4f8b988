package apitest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/store"
)

// The values of the cells in the tables of docs/embedded.md that say which calls wait.
const (
	goesOn      = "goes on"
	waits       = "waits"
	unsupported = "–"
)

// waitCalls are the calls in these tables. Where they can, they use the table Other, which the transaction does not
// use.
var waitCalls = []matrixCall{
	{name: "Get, Query, Scan", call: func(ctx context.Context, s *subject) error {
		other := sortkey.Table[thing](s.db, "Other")
		if _, err := other.Get(ctx, "a", 1); !errors.Is(err, sortkey.ErrNotFound) {
			return err
		}
		return errors.Join(drain(other.Query(ctx, "a")), drain(other.Scan(ctx)))
	}},
	{name: "DB.View", call: func(ctx context.Context, s *subject) error {
		return s.db.View(ctx, func(ctx context.Context) error { return drain(s.items.Scan(ctx)) })
	}},
	{name: "Changes, until now", call: func(ctx context.Context, s *subject) error {
		return drain(s.items.Changes(ctx, "", sortkey.UntilNow))
	}},
	{name: "Put, Update, Delete", call: func(ctx context.Context, s *subject) error {
		return sortkey.Table[thing](s.db, "Other").Put(ctx, thing{Box: "b", Place: 1})
	}},
	{name: "DB.Update", call: func(ctx context.Context, s *subject) error {
		return s.db.Update(ctx, func(ctx context.Context) error {
			return sortkey.Table[thing](s.db, "Other").Put(ctx, thing{Box: "b", Place: 2})
		})
	}},
	request("TransactWriteItems of a client", false, "TransactWriteItems", `{"TransactItems": [
		{"Put": {"TableName": "Other", "Item": {"box": {"S": "b"}, "place": {"N": "3"}}}}]}`),
	{name: "CreateTable", call: func(ctx context.Context, s *subject) error {
		return s.db.CreateTable(ctx, "New", "box / place:N")
	}},
	{name: "AddIndex, DeleteIndex", call: func(ctx context.Context, s *subject) error {
		return s.db.AddIndex(ctx, "Other", sortkey.Global("ByKind", "kind / place:N"))
	}},
	{name: "DeleteTable", call: func(ctx context.Context, s *subject) error { return s.db.DeleteTable(ctx, "Other") }},
	{name: "Tables, Describe", call: func(ctx context.Context, s *subject) error {
		_, err := s.db.Tables(ctx)
		return err
	}},
	{name: "Fork", call: func(_ context.Context, s *subject) error {
		fork, err := s.db.Fork()
		if err != nil {
			return err
		}
		return fork.Close()
	}},
	{name: "Snapshot", call: func(ctx context.Context, s *subject) error {
		return s.db.Snapshot(ctx, filepath.Join(s.dir, "snapshot"))
	}},
	{name: "Close", call: func(_ context.Context, s *subject) error { return s.db.Close() }},
}

// Waits makes each call while a transaction runs. It checks that the call waits, goes on or is unsupported, as the
// tables in docs/embedded.md say for the engine. Doc is the path of that file. Open returns an empty store.
func Waits(t *testing.T, engine, doc string, open func(t *testing.T) store.Store) {
	page, err := os.ReadFile(doc)
	require.NoError(t, err)
	for _, transaction := range []string{"Update", "View"} {
		table, err := waitTable(string(page), transaction)
		require.NoError(t, err)
		require.Len(t, table, len(waitCalls), "calls beside an %s", transaction)
		for _, c := range waitCalls {
			t.Run(transaction+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				want, ok := table[c.name][engine]
				require.True(t, ok, "docs/embedded.md has no cell for %s of %s", c.name, engine)
				s := newSubject(t, open(t), t.TempDir())
				checkWait(t, s, transaction == "View", c, want)
			})
		}
	}
}

// checkWait makes a call while a transaction runs, and checks that it waits or goes on as wanted.
func checkWait(t *testing.T, s *subject, view bool, c matrixCall, want string) {
	ctx := t.Context()
	require.NoError(t, s.fill(ctx, 3))
	began, hold, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	begin := sync.OnceFunc(func() { close(began) })
	go func() {
		ended <- s.transact(ctx, view, func(ctx context.Context) error {
			if _, err := s.items.Get(ctx, "a", 1); err != nil {
				return err
			}
			if !view {
				if err := s.put(ctx, "a", 7); err != nil {
					return err
				}
			}
			begin()
			<-hold // closed, not sent to, because a shared store may run the function again
			return nil
		})
	}()
	<-began
	result := make(chan error, 1)
	go func() { result <- c.call(ctx, s) }()

	const atOnce, never = 30 * time.Second, 100 * time.Millisecond
	switch want {
	case waits:
		select {
		case err := <-result:
			t.Errorf("%s does not wait: %v", c.name, err)
			result <- err
		case <-time.After(never):
		}
	default:
		select {
		case err := <-result:
			result <- err
		case <-time.After(atOnce):
			t.Errorf("%s waits", c.name)
		}
	}
	close(hold)
	err := <-result
	if want == unsupported {
		require.ErrorIs(t, err, errors.ErrUnsupported)
	} else {
		require.NoError(t, err)
	}
	if err := <-ended; c.name != "Close" {
		require.NoError(t, err)
	}
	require.NoError(t, s.db.Close())
}

// waitTable returns the cells of the table for a kind of transaction, by call and engine. Page is the text of the
// document.
func waitTable(page, transaction string) (cells map[string]map[string]string, err error) {
	_, rest, ok := strings.Cut(page, "| beside "+transaction+" |")
	if !ok {
		return nil, fmt.Errorf("the page has no table of calls beside %s", transaction)
	}
	split := func(line string) (list []string) {
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			list = append(list, strings.TrimSpace(cell))
		}
		return list
	}
	head, rest, _ := strings.Cut(rest, "\n")
	engines := split(head)
	cells = map[string]map[string]string{}
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		row := split(strings.TrimSpace(line))
		if strings.HasPrefix(row[0], "-") {
			continue
		}
		cells[strings.ReplaceAll(row[0], "`", "")] = map[string]string{}
		for i, engine := range engines {
			cells[strings.ReplaceAll(row[0], "`", "")][engine] = row[i+1]
		}
	}
	return cells, nil
}

// Endings checks that a call that waits for an Update in the store returns when its context ends, and when the
// database is closed.
func Endings(t *testing.T, open func(t *testing.T) store.Store) {
	calls := map[string]func(ctx context.Context, s *subject) error{
		"Put":     func(ctx context.Context, s *subject) error { return s.put(ctx, "b", 1) },
		"Compact": func(ctx context.Context, s *subject) error { return s.db.Compact(ctx) },
		"Snapshot": func(ctx context.Context, s *subject) error {
			return s.db.Snapshot(ctx, filepath.Join(s.dir, "snapshot"))
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSubject(t, open(t), t.TempDir())
			require.NoError(t, s.fill(t.Context(), 3))
			began, hold, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
			go func() {
				ended <- s.db.Update(t.Context(), func(ctx context.Context) error {
					err := s.put(ctx, "a", 7)
					close(began)
					<-hold
					return err
				})
			}()
			<-began
			short, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, errReason)
			defer cancel()
			// A call that need not wait succeeds.
			if err := call(short, s); !errors.Is(err, errors.ErrUnsupported) && err != nil {
				require.ErrorIs(t, err, errReason)
			}
			waiting, closed := make(chan error, 1), make(chan error, 1)
			go func() { waiting <- call(t.Context(), s) }()
			time.Sleep(20 * time.Millisecond)
			go func() { closed <- s.db.Close() }()
			if err := <-waiting; err != nil && !errors.Is(err, errors.ErrUnsupported) {
				require.ErrorIs(t, err, store.ErrClosed)
			}
			close(hold)
			<-ended // any error: in memory, Close may make the Update fail
			require.NoError(t, <-closed)
		})
	}
}
