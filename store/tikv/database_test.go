package tikv_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/tests/apitest"
	"github.com/sortkey/sortkey/internal/tests/dbtest"
	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/tikv"
)

// TestDeleteLargeTable deletes a table, and before that an index, with more rows than one
// Update may delete. No row remains, and a View that began before still sees all.
func TestDeleteLargeTable(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	const items = 2500
	c := newCluster(t)
	s, err := c.tryOpen(t.Context(), tikv.Options{})
	require.NoError(t, err)
	require.Greater(t, items, 2*s.ClearLimit())
	db := dbtest.Expiring(t, sortkey.Options{
		Store: s, Clock: func() time.Time { return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) },
	}, items)
	length := func(r store.Reader) (n int) {
		for space := store.Space(1); space < 100; space++ {
			for _, err := range r.Scan(space, store.Everything()) {
				require.NoError(t, err)
				n++
			}
		}
		return n
	}
	var mu sync.Mutex
	written := map[uint64]int{} // rows, by transaction
	c.onRequest(func(request *tikvrpc.Request, send func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
		if request.Type == tikvrpc.CmdPrewrite {
			mu.Lock()
			written[request.Prewrite().StartVersion] += len(request.Prewrite().Mutations)
			mu.Unlock()
		}
		return send()
	})

	name := new("Sessions")
	require.NoError(t, s.View(t.Context(), func(before store.Reader) error {
		require.Equal(t, 2*(items+1), length(before))
		_, err := engine.Of(db).Service.UpdateTable(t.Context(), &wire.UpdateTableInput{
			TableName: name,
			GlobalSecondaryIndexUpdates: []wire.GlobalSecondaryIndexUpdate{{
				Delete: &wire.DeleteGlobalSecondaryIndexAction{IndexName: new("ByUser")},
			}},
		})
		require.NoError(t, err)
		require.Equal(t, int64(items+1), dbtest.Count(t, db, nil))

		_, err = engine.Of(db).Service.DeleteTable(t.Context(), &wire.DeleteTableInput{TableName: name})
		require.NoError(t, err)
		require.Equal(t, 2*(items+1), length(before))
		return nil
	}))
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		require.Zero(t, length(r))
		return nil
	}))
	require.NoError(t, db.Close())

	most := 0
	for _, n := range written {
		most = max(most, n)
	}
	require.Less(t, most, s.ClearLimit()+10, "rows that one transaction writes")
	require.Greater(t, most, s.ClearLimit()-1)
}

// TestMatrix and TestHazards run transactions while everything else runs, and call them in wrong ways.
func TestMatrix(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	apitest.Matrix(t, 20*time.Millisecond, embedded)
}

func TestHazards(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	apitest.Hazards(t, embedded)
}

// embedded opens a store that the test closes itself.
func embedded(t *testing.T) store.Store {
	s, err := newCluster(t).tryOpen(t.Context(), tikv.Options{})
	require.NoError(t, err)
	return s
}
