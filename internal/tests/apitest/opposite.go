package apitest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

// Opposite runs concurrent Updates that write two tables in opposite orders, and checks that all of them succeed. In
// a shared store two Updates may conflict, and one then runs again. In other stores no function may run twice and no
// operation in it may fail. Opposite logs the number of functions that ran again and of operations that failed, and
// the time of the longest Update. If put is not nil, Opposite calls it in place of [sortkey.TableOf.Put].
func Opposite(
	t *testing.T, updates int, open func(t *testing.T) store.Store,
	put func(ctx context.Context, db *sortkey.DB, table string, place int) error,
) {
	st := open(t)
	_, shared := st.(capability.Sharer)
	s := newSubject(t, st, t.TempDir())
	ctx := t.Context()
	require.NoError(t, s.fill(ctx, 0))
	if put == nil {
		put = func(ctx context.Context, db *sortkey.DB, table string, place int) error {
			return sortkey.Table[thing](db, table).Put(ctx, thing{Box: "a", Place: place, Kind: "red"})
		}
	}
	tables := [2]string{"Items", "Other"}

	var failed, calls atomic.Int64
	var longest [2]time.Duration
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			for n := range updates / 2 {
				began := time.Now()
				err := s.db.Update(ctx, func(ctx context.Context) error {
					calls.Add(1)
					for _, table := range []string{tables[i], tables[1-i]} {
						if err := put(ctx, s.db, table, n%10); err != nil {
							failed.Add(1)
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
				longest[i] = max(longest[i], time.Since(began))
			}
		})
	}
	wg.Wait()
	t.Logf("%d Updates: %d operations inside failed, %d functions ran again, the longest Update took %v",
		updates, failed.Load(), calls.Load()-int64(updates), max(longest[0], longest[1]))
	if !shared {
		require.Zero(t, failed.Load())
		require.EqualValues(t, updates, calls.Load())
	}
	require.NoError(t, s.db.Close())
}
