package postgres_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store/postgres"
)

// TestUpdatesTogether runs transactions in several goroutines on a new database. The first of them load its
// definitions, and give the server its row of counters, when others have begun. SORTKEY_CHECKS is how many seconds
// they run.
func TestUpdatesTogether(t *testing.T) {
	proptest.NeedLong(t)
	type row struct {
		Name  string `dynamodbav:"name"`
		Steps int    `dynamodbav:"steps"`
	}
	pgtest.Shared(t)
	const goroutines = 8
	seconds := 1
	if text := os.Getenv("SORTKEY_CHECKS"); text != "" {
		var err error
		seconds, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	st, err := postgres.Open(t.Context(), database(t), postgres.Options{})
	require.NoError(t, err)
	db, err := sortkey.Open(sortkey.Options{Store: st})
	require.NoError(t, err)
	require.NoError(t, db.CreateTable(t.Context(), "Rows", "name"))
	rows := sortkey.Table[row](db, "Rows")

	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(seconds)*time.Second)
	defer cancel()
	var calls, failures atomic.Int64
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				err := db.Update(t.Context(), func(ctx context.Context) error {
					r, err := rows.Get(ctx, strconv.Itoa(g))
					if err != nil && !errors.Is(err, sortkey.ErrNotFound) {
						return err
					}
					r.Name, r.Steps = strconv.Itoa(g), r.Steps+1
					return rows.Put(ctx, r)
				})
				if calls.Add(1); err != nil {
					failures.Add(1)
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	sum := 0
	for r, err := range rows.Scan(t.Context()) {
		require.NoError(t, err)
		sum += r.Steps
	}
	require.EqualValues(t, calls.Load()-failures.Load(), sum)
	require.NoError(t, db.Close())
	t.Logf("%d calls in %d s, %d errors", calls.Load(), seconds, failures.Load())
}
