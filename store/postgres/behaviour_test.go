package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/tests/apitest"
	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/postgres"
)

// TestBehaviour runs the scripts with expected answers on the store in Go.
func TestBehaviour(t *testing.T) {
	proptest.NeedLong(t)
	pgtest.Shared(t)
	apitest.Run(t, "../../sdk/testdata/behaviour", func(t *testing.T, opts sortkey.Options) *sortkey.DB {
		var err error
		opts.Store, err = postgres.Open(t.Context(), database(t), postgres.Options{})
		require.NoError(t, err)
		db, err := sortkey.Open(opts)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		return db
	})
}

// TestMatrix and TestHazards run transactions while everything else runs, and call them in wrong ways.
func TestMatrix(t *testing.T) {
	proptest.NeedLong(t)
	apitest.Matrix(t, 100*time.Millisecond, embedded(t))
}

func TestWaits(t *testing.T) {
	proptest.NeedLong(t)
	apitest.Waits(t, "PostgreSQL", "../../docs/embedded.md", embedded(t))
}

func TestOpposite(t *testing.T) {
	proptest.NeedLong(t)
	apitest.Opposite(t, 1000, embedded(t), nil)
}

func TestHazards(t *testing.T) {
	proptest.NeedLong(t)
	apitest.Hazards(t, embedded(t))
}

func TestUpkeep(t *testing.T) {
	proptest.NeedLong(t)
	pgtest.Shared(t)
	apitest.Upkeep(t, func() store.Store {
		st, err := postgres.Open(t.Context(), database(t), postgres.Options{})
		require.NoError(t, err)
		return st
	})
}

// embedded returns a function that opens a store of new tables, which the test closes itself.
func embedded(t *testing.T) func(t *testing.T) store.Store {
	cluster := pgtest.New(t, "max_connections=2000") // stores that hang keep theirs
	return func(t *testing.T) store.Store {
		url := cluster.Schema(t)
		require.NoError(t, postgres.Init(t.Context(), url))
		st, err := postgres.Open(t.Context(), url, postgres.Options{})
		require.NoError(t, err)
		return st
	}
}
