package table_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/tabletest"
	"github.com/sortkey/sortkey/store"
)

// TestNested checks that the writes of a nested update are undone if it fails, and that the outer update goes on.
func TestNested(t *testing.T) {
	f := tabletest.Open(t)
	f.Create("T", "PK:S SK:S", "G g:S - ALL")
	put := func(ctx context.Context, sk, g string) error {
		return f.DB.Update(ctx, func(tx *table.Tx) error {
			tab, err := tx.Table("T")
			if err != nil {
				return err
			}
			_, err = tx.Put(tab, tabletest.Item(t, "{'PK':{'S':'a'},'SK':{'S':'"+sk+"'},'g':{'S':'"+g+"'}}"), nil)
			return err
		})
	}
	no := errors.New("no")
	nested := func(ctx context.Context, how func() error) error {
		return f.DB.UpdateJoined(ctx, func(ctx context.Context) error {
			require.NoError(t, put(ctx, "old", "inner"))
			require.NoError(t, put(ctx, "new", "inner"))
			return how()
		})
	}
	goexit := func() error { runtime.Goexit(); return nil }
	for _, tt := range []struct {
		name string
		how  func() error
	}{
		{"error", func() error { return no }},
		{"panic", func() error { panic(no) }},
		{"panic in a deeper one", func() error { panic(no) }},
	} {
		require.NoError(t, f.DB.UpdateJoined(t.Context(), func(ctx context.Context) error {
			require.NoError(t, put(ctx, "old", "outer"))
			func() {
				defer func() { _ = recover() }()
				require.ErrorIs(t, nested(ctx, tt.how), no)
			}()
			return put(ctx, "last", "outer")
		}), tt.name)
		require.Equal(t, []string{
			`{"PK":{"S":"a"},"SK":{"S":"last"},"g":{"S":"outer"}}`,
			`{"PK":{"S":"a"},"SK":{"S":"old"},"g":{"S":"outer"}}`,
		}, f.Scan("T"), tt.name)
		tab, err := f.DB.Describe(t.Context(), "T")
		require.NoError(t, err)
		n, _ := tab.Items()
		require.EqualValues(t, 2, n, tt.name)
		n, _ = tab.Indexes()[0].Items()
		require.EqualValues(t, 2, n, tt.name)
	}

	// Three levels: the outermost update succeeds, the one in it fails, and the innermost succeeds.
	require.NoError(t, f.DB.UpdateJoined(t.Context(), func(ctx context.Context) error {
		require.ErrorIs(t, f.DB.UpdateJoined(ctx, func(ctx context.Context) error {
			require.NoError(t, nested(ctx, func() error { return nil }))
			return no
		}), no)
		return nil
	}))
	require.Len(t, f.Scan("T"), 2)

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = f.DB.UpdateJoined(t.Context(), func(ctx context.Context) error { return nested(ctx, goexit) })
	}()
	<-ended
	require.Len(t, f.Scan("T"), 2)
	require.NoError(t, put(t.Context(), "after", "x"))
}

// TestWaits checks that every wait for an update ends with its context and with Close, and that the log names the
// waiting caller.
func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := tabletest.Open(t)
		f.Create("T", "PK:S SK:S")
		var log bytes.Buffer
		f.DB.Logger = slog.New(slog.NewTextHandler(&log, nil))
		touch := func(tx *table.Tx) error { return tx.Writer().Delete(1, nil, nil) }
		waiters := map[string]func(context.Context) error{
			"Update": func(ctx context.Context) error { return f.DB.Update(ctx, touch) },
			"Create": func(ctx context.Context) error {
				_, err := f.DB.Create(ctx, tabletest.Define(t, "Other", "PK:S"))
				return err
			},
			"Fork": func(context.Context) error {
				_, err := f.DB.Fork(func() (store.Store, error) { return nil, errors.New("not reached") })
				return err
			},
		}
		hold := make(chan struct{})
		held := make(chan error)
		go func() {
			held <- f.DB.UpdateJoined(t.Context(), func(ctx context.Context) error {
				defer func() { <-hold }()
				return f.DB.Update(ctx, touch)
			})
		}()
		synctest.Wait()

		for name, wait := range waiters {
			if name == "Fork" {
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			require.ErrorIs(t, wait(ctx), context.DeadlineExceeded, name)
			cancel()
		}
		require.Empty(t, log.String())

		results := make(chan error, len(waiters))
		for _, wait := range waiters {
			go func() { results <- wait(t.Context()) }()
		}
		time.Sleep(6 * time.Second)
		synctest.Wait()
		require.Equal(t, len(waiters), bytes.Count(log.Bytes(), []byte("waits for an update")), log.String())

		closed := make(chan error)
		go func() { closed <- f.DB.Close(t.Context()) }()
		for range waiters {
			require.ErrorIs(t, <-results, store.ErrClosed)
		}
		close(hold)
		require.NoError(t, <-held, "it was under way")
		require.NoError(t, <-closed)
		require.NoError(t, f.DB.Close(t.Context()))
	})
}

// TestConcurrentUse checks that two goroutines cannot use the context of one update at the same time.
func TestConcurrentUse(t *testing.T) {
	f := tabletest.Open(t)
	f.Create("T", "PK:S SK:S")
	read := func(ctx context.Context, during func()) error {
		return f.DB.View(ctx, func(*table.View) error { during(); return nil })
	}
	require.NoError(t, f.DB.UpdateJoined(t.Context(), func(ctx context.Context) error {
		return read(ctx, func() {
			require.ErrorContains(t, read(ctx, func() {}), "two goroutines")
		})
	}))
	require.NoError(t, f.DB.ViewJoined(t.Context(), func(ctx context.Context) error {
		return read(ctx, func() { require.NoError(t, read(ctx, func() {})) })
	}))

	// An operation still runs when the function returns.
	begun, end := make(chan struct{}), make(chan struct{})
	err := f.DB.UpdateJoined(t.Context(), func(ctx context.Context) error {
		go func() { _ = read(ctx, func() { close(begun); <-end }) }()
		<-begun
		time.AfterFunc(100*time.Millisecond, func() { close(end) })
		return nil
	})
	require.ErrorContains(t, err, "two goroutines")
}
