package sortkey_test

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortkey/sortkey/internal/tests/dbtest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

func TestSweep(t *testing.T) {
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	const n = 2500 // more than one update sweeps
	db := dbtest.Expiring(t, sortkey.Options{Clock: func() time.Time { return now }}, n)
	defer db.Close()
	for _, tt := range []struct {
		after time.Duration
		want  int
	}{{0, 0}, {59 * time.Second, 0}, {time.Second, n}, {time.Hour, 0}} {
		now = now.Add(tt.after)
		got, err := db.Sweep(t.Context())
		require.NoError(t, err)
		if got != tt.want {
			t.Errorf("at %v Sweep = %d, want %d", now, got, tt.want)
		}
	}
	if a, b := dbtest.Count(t, db, nil), dbtest.Count(t, db, new("ByUser")); a != 1 || b != 1 {
		t.Errorf("%d items and %d index rows remain, want 1", a, b)
	}
}

// TestSweepInterval tests that the background sweeper sweeps at SweepInterval, and that Close ends it.
func TestSweepInterval(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent()) // another test leaves a loop on purpose
	synctest.Test(t, func(t *testing.T) {
		db := dbtest.Expiring(t, sortkey.Options{Clock: time.Now, SweepInterval: 10 * time.Second}, 3)
		fork, err := db.Fork()
		require.NoError(t, err)
		time.Sleep(55 * time.Second)
		synctest.Wait()
		if got := dbtest.Count(t, db, nil); got != 4 {
			t.Errorf("%d items before the time, want 4", got)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		for _, d := range []*sortkey.DB{db, fork} {
			if got := dbtest.Count(t, d, nil); got != 1 {
				t.Errorf("%d items after the time, want 1", got)
			}
			require.NoError(t, d.Close())
			require.NoError(t, d.Close())
		}
	})
}

// A pausedSharer is a shared store that takes 30 seconds to answer the first request for the lease of sweeps.
type pausedSharer struct {
	store.Store
	paused bool
}

func (s *pausedSharer) Expecting(store.Space, []byte, []byte, []byte) store.Store { return s.Store }

func (s *pausedSharer) Lease(ctx context.Context, name string) (context.Context, func(), error) {
	if name == "sweeps" && !s.paused {
		s.paused = true
		time.Sleep(30 * time.Second)
		return nil, nil, context.DeadlineExceeded
	}
	return ctx, func() {}, nil
}

// TestSweepAfterPause tests that a server that had to wait for the lease of sweeps still takes it soon afterwards.
func TestSweepAfterPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := dbtest.Expiring(t,
			sortkey.Options{Clock: time.Now, SweepInterval: time.Second, Store: &pausedSharer{Store: memory.Open()}}, 3)
		time.Sleep(62 * time.Second)
		synctest.Wait()
		if got := dbtest.Count(t, db, nil); got != 1 {
			t.Errorf("%d items after the time, want 1", got)
		}
		require.NoError(t, db.Close())
	})
}

// TestDamagedItem tests that sweeps and index builds, which run in goroutines of the database, return an error for a
// damaged item. A panic there would end the program.
func TestDamagedItem(t *testing.T) {
	ctx, st := t.Context(), memory.Open()
	db := open(t, sortkey.Options{Store: st})
	require.NoError(t, db.CreateTable(ctx, "Tab", "pk", sortkey.TimeToLive("at")))
	require.NoError(t, sortkey.Table[map[string]any](db, "Tab").Put(ctx, map[string]any{"pk": "a"}))
	require.NoError(t, st.Update(ctx, func(w store.Writer) error {
		for space := store.Space(1); ; space++ { // space 0 has the definitions of tables
			for row, err := range w.Scan(space, store.Everything()) {
				require.NoError(t, err)
				damaged := bytes.Clone(row.Value)
				damaged[1] = 200 // the number of attributes
				return w.Put(space, bytes.Clone(row.Partition), bytes.Clone(row.Sort), damaged)
			}
		}
	}))
	const damage = `damaged item of table Tab at "`
	_, err := db.Sweep(ctx)
	require.ErrorContains(t, err, damage)
	require.ErrorContains(t, db.AddIndex(ctx, "Tab", sortkey.Global("ByOther", "other")), damage)
}
