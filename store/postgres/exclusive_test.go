package postgres_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/postgres"
)

// TestExclusive lets an Update lose three times. After that, no other Update may win against it. One of them is on
// another server and writes the row meanwhile. Another is in the same process, and does not even read the row before
// the first one is done.
func TestExclusive(t *testing.T) {
	cluster := pgtest.Shared(t)
	url := database(t)
	s, other := open(t, url, postgres.Options{}), open(t, url, postgres.Options{})
	set(t, s, "x", "first")
	calls := 0
	var finished atomic.Bool
	far, near := make(chan error, 1), make(chan error, 1)
	err := s.Update(t.Context(), func(w store.Writer) error {
		if _, _, err := w.Get(1, []byte("x"), nil); err != nil {
			return err
		}
		if calls++; calls <= 3 {
			set(t, other, "x", fmt.Sprint("lost ", calls))
		} else {
			go func() {
				far <- other.Update(t.Context(), func(w store.Writer) error { return w.Put(1, []byte("x"), nil, []byte("far")) })
			}()
			go func() {
				near <- s.Update(t.Context(), func(w store.Writer) error {
					_, _, err := w.Get(1, []byte("x"), nil)
					if err == nil && !finished.Load() {
						t.Error("an Update read the row while another one was exclusive")
					}
					return err
				})
			}()
			require.Eventually(t, func() bool {
				return cluster.SQL(t, "postgres", "select count(*) from pg_stat_activity where wait_event_type = 'Lock'") != "0"
			}, time.Minute, 10*time.Millisecond, "the other server waits for the row")
		}
		finished.Store(calls > 3) // as good as
		return w.Put(1, []byte("x"), nil, []byte("turn"))
	})
	require.NoError(t, err)
	require.Equal(t, 4, calls)
	require.NoError(t, <-far)
	require.NoError(t, <-near)
	require.Equal(t, "far", value(t, s, "x"))
}
