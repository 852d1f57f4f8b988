package sdk_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/sortkeytest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// TestStaleSeed tests that the seed determines which versions reads see, and that reads see every version in the
// window at some time.
func TestStaleSeed(t *testing.T) {
	answers := func(seed uint64) (seen []int) {
		db := sortkeytest.New(t, func(o *sortkey.Options) {
			o.Simulate.StaleReads = sortkey.StaleReads{Window: time.Second, Seed: seed}
		})
		db.Clock.Set(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
		db.Table("Rows", "pk / sk:N")
		for sk := range 3 {
			require.NoError(t, putRow(t, db.Client, "a", sk))
		}
		for range 50 {
			out, err := db.Client.Query(t.Context(), queryOf("a"))
			require.NoError(t, err)
			seen = append(seen, len(out.Items))
		}
		return seen
	}
	first := answers(7)
	require.Equal(t, first, answers(7))
	require.NotEqual(t, first, answers(8))
	for n := range 4 {
		require.Contains(t, first, n)
	}
}

// slowForker is a store that can fork, but not instantly.
type slowForker struct{ store.Store }

func (slowForker) Fork() (store.Store, error) { return memory.Open(), nil }

func TestStaleReadsNeedVersions(t *testing.T) {
	_, err := sortkey.Open(sortkey.Options{
		Store:    slowForker{memory.Open()},
		Simulate: sortkey.Simulation{StaleReads: sortkey.StaleReads{Window: time.Second}},
	})
	require.ErrorIs(t, err, errors.ErrUnsupported)
	db, err := sortkey.Open(sortkey.Options{Store: slowForker{memory.Open()}})
	require.NoError(t, err)
	require.ErrorIs(t, engine.Of(db).Tables.HoldIndexes(t.Context()), table.ErrNoVersions)
	engine.Of(db).Tables.Settle()
	require.NoError(t, db.Close())
}
