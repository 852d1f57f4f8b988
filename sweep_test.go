package sortkey_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/sortkey/sortkey/internal/dbtest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sortkey/sortkey"
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

// The background sweeper follows the interval of its option, and Close ends it.
func TestSweepInterval(t *testing.T) {
	defer goleak.VerifyNone(t)
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
