package postgres_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/store/postgres"
)

// TestEnsureTable checks that several programs can start on one database at the same time, even in versions that want
// different indexes.
func TestEnsureTable(t *testing.T) {
	pgtest.Shared(t)
	ctx, url := t.Context(), database(t)
	const programs = 3
	dbs := make([]*sortkey.DB, programs)
	for i := range dbs {
		st, err := postgres.Open(ctx, url, postgres.Options{})
		require.NoError(t, err)
		dbs[i], err = sortkey.Open(sortkey.Options{Store: st})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, dbs[i].Close()) })
	}

	together := func(ensure func(i int, db *sortkey.DB) error) {
		var all sync.WaitGroup
		failures := make([]error, 2*programs) // two goroutines of each
		for i := range failures {
			all.Go(func() { failures[i] = ensure(i, dbs[i%programs]) })
		}
		all.Wait()
		require.NoError(t, errors.Join(failures...))
	}
	together(func(_ int, db *sortkey.DB) error { return db.EnsureTable(ctx, "Items", "p / s:N") })
	items := sortkey.Table[map[string]any](dbs[0], "Items")
	for i := range 200 {
		require.NoError(t, items.Put(ctx, map[string]any{"p": "P", "s": i, "a0": "A", "a1": i % 2, "a2": "A"}))
	}
	kinds := []string{"", ":N", ""}
	together(func(i int, db *sortkey.DB) error {
		n := i / 2
		return db.EnsureTable(ctx, "Items", "p / s:N",
			sortkey.Global(fmt.Sprint("ByA", n), fmt.Sprint("a", n, kinds[n])), sortkey.Stream(), sortkey.TimeToLive("until"))
	})
	for i, value := range []any{"A", 1, "A"} {
		for _, db := range dbs {
			n, err := sortkey.Table[map[string]any](db, "Items").Index(fmt.Sprint("ByA", i)).Count(ctx, value)
			require.NoError(t, err)
			require.Equal(t, []int{200, 100, 200}[i], n)
		}
	}
	for _, db := range dbs {
		info, err := db.Describe(ctx, "Items")
		require.NoError(t, err)
		require.Len(t, info.Indexes, programs)
		require.Equal(t, "until", info.TimeToLive)
		require.ErrorIs(t, db.EnsureTable(ctx, "Items", "p"), sortkey.ErrTableExists)
	}
}
