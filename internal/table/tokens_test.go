package table_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// tokenRows returns the number of rows that the store has for tokens.
func tokenRows(t testing.TB, st store.Store) (n int) {
	t.Helper()
	require.NoError(t, st.View(t.Context(), func(r store.Reader) error {
		for _, err := range r.Scan(1<<63, store.Everything()) {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	}))
	return n
}

// TestForgetTokens checks that tokens older than ten minutes are forgotten. The next transaction deletes them or, in
// a shared store, the next sweep.
func TestForgetTokens(t *testing.T) {
	remember := func(t *testing.T, db *life.DB, token string, at time.Time) (replay bool) {
		t.Helper()
		require.NoError(t, db.Update(t.Context(), func(tx *table.Tx) (err error) {
			_, replay, err = tx.Remember(token, table.Token{Digest: []byte("d"), Time: at})
			return err
		}))
		return replay
	}
	const tokens = 250 // more than one update deletes
	begun := time.Unix(1_000_000, 0)
	late := begun.Add(table.TokenWindow + time.Second)
	for name, st := range map[string]store.Store{"alone": memory.Open(), "shared": newSharer()} {
		t.Run(name, func(t *testing.T) {
			db := begin(t, st).DB
			for i := range tokens {
				require.False(t, remember(t, db, fmt.Sprint(i), begun))
			}
			require.True(t, remember(t, db, "0", late.Add(-2*time.Second)))
			require.False(t, remember(t, db, "0", late), "too old")
			left := tokenRows(t, st)
			if name == "shared" {
				require.Equal(t, 2*tokens+1, left, "a transaction reads no range of tokens")
			} else {
				require.Less(t, left, 2*tokens)
			}

			_, err := db.Sweep(t.Context(), late)
			require.NoError(t, err)
			require.Equal(t, 2, tokenRows(t, st), "the one that was used again")
			require.True(t, remember(t, db, "0", late.Add(time.Second)))
		})
	}
}
