package sortkey_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
)

func counters(t *testing.T, opts sortkey.Options) (*sortkey.DB, *sortkey.TableOf[Job]) {
	db, err := sortkey.Open(opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoError(t, db.CreateTable(t.Context(), "Jobs", "queue / at:N"))
	return db, sortkey.Table[Job](db, "Jobs")
}

// TestNestedOverlap tests that no other goroutine can use an Update while the function of a nested Update runs, not
// even with another nested one. So no write is undone after it was answered.
func TestNestedOverlap(t *testing.T) {
	db, jobs := counters(t, sortkey.Options{})
	no := errors.New("no")
	require.NoError(t, db.Update(t.Context(), func(ctx context.Context) error {
		began, end := make(chan struct{}), make(chan struct{})
		var inner error
		var wg sync.WaitGroup
		wg.Go(func() {
			inner = db.Update(ctx, func(ctx context.Context) error {
				if err := jobs.Put(ctx, Job{"q", 1, "inner"}); err != nil {
					return err
				}
				close(began)
				<-end
				return no
			})
		})
		<-began
		require.ErrorContains(t, jobs.Put(ctx, Job{"q", 2, "outer"}), "a nested Update is running")
		require.ErrorContains(t, db.Update(ctx, func(context.Context) error { return nil }), "a nested Update")
		close(end)
		wg.Wait()
		require.ErrorIs(t, inner, no)
		return jobs.Put(ctx, Job{"q", 3, "outer"})
	}))
	_, err := jobs.Get(t.Context(), "q", 1)
	require.ErrorIs(t, err, sortkey.ErrNotFound)
	_, err = jobs.Get(t.Context(), "q", 3)
	require.NoError(t, err)
}

// TestTwoDatabases tests that transactions of several databases are independent, even in one context.
func TestTwoDatabases(t *testing.T) {
	one, ones := counters(t, sortkey.Options{})
	two, twos := counters(t, sortkey.Options{Simulate: sortkey.Simulation{TableDelay: time.Hour}})
	put := func(ctx context.Context, jobs *sortkey.TableOf[Job], text string) {
		require.NoError(t, jobs.Put(ctx, Job{"q", 1, text}))
	}
	text := func(ctx context.Context) string {
		j, err := ones.Get(ctx, "q", 1)
		require.NoError(t, err)
		return j.Text
	}
	_ = twos
	put(t.Context(), ones, "before")
	require.NoError(t, one.View(t.Context(), func(ctx context.Context) error {
		put(t.Context(), ones, "after")
		return two.View(ctx, func(ctx context.Context) error {
			require.Equal(t, "before", text(ctx))
			return nil
		})
	}))
	require.NoError(t, one.Update(t.Context(), func(ctx context.Context) error {
		put(ctx, ones, "inside")
		return two.View(ctx, func(both context.Context) error {
			require.Equal(t, "inside", text(both))
			put(both, ones, "both")
			require.NoError(t, two.CreateTable(ctx, "New", "id"))
			require.ErrorIs(t, sortkey.Table[Job](two, "New").Put(ctx, Job{}), sortkey.ErrNoTable, "it is CREATING")
			return nil
		})
	}))
	require.Equal(t, "both", text(t.Context()))
}

// A reader has a method that reads the database while it decodes itself.
type reader struct {
	Queue string     `dynamodbav:"queue"`
	At    int        `dynamodbav:"at"`
	Text  decodeText `dynamodbav:"text"`
}

type decodeText string

var whileDecoding func() error

func (d *decodeText) UnmarshalAttr(v attr.Value) error {
	*d = decodeText(v.Raw())
	return whileDecoding()
}

// TestDecodingReads tests that methods of the user's types may read the database while they decode an item, except
// with an Update.
func TestDecodingReads(t *testing.T) {
	db, jobs := counters(t, sortkey.Options{})
	for i := range 3 {
		require.NoError(t, jobs.Put(t.Context(), Job{"q", i, "x"}))
	}
	readers := sortkey.Table[reader](db, "Jobs")
	use := func(ctx context.Context) error {
		whileDecoding = func() error {
			_, err := jobs.Get(ctx, "q", 1)
			return err
		}
		if _, err := readers.Get(ctx, "q", 1); err != nil {
			return err
		}
		for _, err := range readers.Query(ctx, "q") {
			if err != nil {
				return err
			}
		}
		_, err := readers.ScanPage(ctx)
		return err
	}
	require.ErrorContains(t, db.Update(t.Context(), use), "use the context of one Update at the same time")
	require.NoError(t, db.View(t.Context(), use))
	require.NoError(t, use(t.Context()))
}

// TestEndedContext tests that an operation whose context has ended does nothing, also in a transaction, and that an
// Update whose context has ended is not applied.
func TestEndedContext(t *testing.T) {
	db, jobs := counters(t, sortkey.Options{})
	cause := errors.New("cause")
	ended := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(cause)
		return ctx
	}
	require.NoError(t, db.Update(t.Context(), func(ctx context.Context) error {
		require.ErrorIs(t, jobs.Put(ended(ctx), Job{"q", 1, ""}), cause)
		_, err := jobs.Get(ended(ctx), "q", 1)
		require.ErrorIs(t, err, cause)
		require.ErrorIs(t, db.Update(ended(ctx), func(context.Context) error { return nil }), cause)
		return jobs.Put(ctx, Job{"q", 2, ""})
	}))
	ctx, cancel := context.WithCancelCause(t.Context())
	require.ErrorIs(t, db.Update(ctx, func(ctx context.Context) error {
		defer cancel(cause)
		return jobs.Put(ctx, Job{"q", 3, ""})
	}), cause)
	_, err := jobs.Get(t.Context(), "q", 3)
	require.ErrorIs(t, err, sortkey.ErrNotFound)
	require.ErrorContains(t, db.Update(t.Context(), nil), "DB.Update: the function is nil")
	require.ErrorContains(t, db.View(t.Context(), nil), "DB.View: the function is nil")
}

// TestWaitIsLogged tests that after five seconds the log names the file of the caller that waits for an Update.
func TestWaitIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := new(safeBuffer)
		db, jobs := counters(t, sortkey.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
		put := make(chan error, 1)
		require.NoError(t, db.Update(t.Context(), func(ctx context.Context) error {
			require.NoError(t, jobs.Put(ctx, Job{"q", 2, ""}))
			go func() { put <- jobs.Put(t.Context(), Job{"q", 1, ""}) }()
			time.Sleep(4 * time.Second)
			synctest.Wait()
			require.Empty(t, log.String())
			time.Sleep(2 * time.Second)
			synctest.Wait()
			require.Contains(t, log.String(), "tx_test.go:")
			return nil
		}))
		require.NoError(t, <-put)
		require.Equal(t, 1, strings.Count(log.String(), "\n"))
	})
}

// A safeBuffer is a bytes.Buffer for several goroutines.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
