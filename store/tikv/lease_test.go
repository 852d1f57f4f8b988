package tikv_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/tikv"
)

func TestLease(t *testing.T) {
	t.Parallel()
	c := newCluster(t) // outside the bubble, because the goroutines of the mock do not end with it
	synctest.Test(t, func(t *testing.T) {
		opts := tikv.Options{Name: "first"}
		s, err := c.tryLease(t.Context(), opts)
		require.NoError(t, err)
		put(t, s, "p", "k", "v")
		_, err = c.tryLease(t.Context(), opts)
		require.ErrorIs(t, err, tikv.ErrLocked)
		require.ErrorContains(t, err, "first")
		require.NoError(t, s.Close())

		s, err = c.tryLease(t.Context(), opts)
		require.NoError(t, err)
		value, ok, err := s.Get(t.Context(), 1, []byte("p"), []byte("k"))
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, "v", string(value))
		require.NoError(t, s.Close())
	})
}

// TestLeaseOfPausedServer cuts a server off while one of its Updates runs, until another server has taken its lease.
// When the first server can reach the cluster again, it must commit nothing.
func TestLeaseOfPausedServer(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	c := newCluster(t)
	synctest.Test(t, func(t *testing.T) {
		var dead atomic.Bool
		kv, err := c.client(&dead)
		require.NoError(t, err)
		paused, err := tikv.OpenClient(t.Context(), kv, tikv.Options{})
		require.NoError(t, err)
		defer func() { require.NoError(t, paused.Close()) }()
		err = paused.Update(t.Context(), func(w store.Writer) error {
			dead.Store(true)
			next, err := c.tryLease(t.Context(), tikv.Options{})
			require.NoError(t, err)
			put(t, next, "p", "k", "of the next")
			dead.Store(false)
			t.Cleanup(func() { require.NoError(t, next.Close()) })
			return w.Put(1, []byte("q"), []byte("k"), []byte("late"))
		})
		require.ErrorIs(t, err, tikv.ErrLease)
		require.ErrorIs(t, paused.View(t.Context(), func(store.Reader) error { return nil }), tikv.ErrLease)
		_, _, err = paused.Get(t.Context(), 1, []byte("p"), []byte("k"))
		require.ErrorIs(t, err, tikv.ErrLease)

		// If a context ends meanwhile, its error is returned rather than that of the lease.
		ctx, cancel := context.WithCancel(t.Context())
		end := func() { cancel() }
		c.ask.Store(&end)
		err = paused.View(ctx, func(store.Reader) error { return nil })
		require.Equal(t, context.Canceled, err)
		c.ask.Store(nil)

		snapshot, err := kv.CurrentTimestamp("global")
		require.NoError(t, err)
		it, err := kv.GetSnapshot(snapshot).Iter([]byte("sortkey\x00r"), []byte("sortkey\x00s"))
		require.NoError(t, err)
		n := 0
		for ; it.Valid(); require.NoError(t, it.Next()) {
			n++
		}
		require.Equal(t, 1, n, "rows")
	})
}

func TestFormat(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for _, text := range []string{`{"format":1}`, "no JSON"} {
		kv, err := c.client(nil)
		require.NoError(t, err)
		txn, err := kv.Begin()
		require.NoError(t, err)
		require.NoError(t, txn.Set([]byte("sortkey\x00l"), []byte(text)))
		require.NoError(t, txn.Commit(t.Context()))
		require.NoError(t, kv.Close())
		_, err = c.tryOpen(t.Context(), tikv.Options{})
		require.ErrorIs(t, err, tikv.ErrFormat)
	}
}

// TestPrefix opens several sets of tables in one cluster.
func TestPrefix(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	prefixes := []string{"a", "ar", "ab", ""}
	for _, prefix := range prefixes {
		s, err := c.tryOpen(t.Context(), tikv.Options{Prefix: prefix})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		put(t, s, "p", prefix, "v")
		require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
			found, err := rows(r, "p", store.Range{}, false)
			require.Equal(t, []string{prefix + "=v"}, found)
			return err
		}))
	}
	for _, prefix := range []string{"zero\x00", string(make([]byte, 65))} {
		_, err := c.tryOpen(t.Context(), tikv.Options{Prefix: prefix})
		require.Error(t, err)
	}
}

// TestOpenWithoutCluster opens tables at an address where nobody listens.
func TestOpenWithoutCluster(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := tikv.Open(ctx, []string{"127.0.0.1:1"}, tikv.Options{})
	require.Error(t, err)
	_, err = tikv.Open(t.Context(), []string{"127.0.0.1:1"}, tikv.Options{CA: "no such file"})
	require.ErrorContains(t, err, "no such file")
	_, err = tikv.Open(t.Context(), nil, tikv.Options{})
	require.ErrorContains(t, err, "no addresses")

	proptest.NeedLong(t) // it waits for ten seconds
	_, err = tikv.Open(t.Context(), []string{"127.0.0.1:1", "127.0.0.1:2"}, tikv.Options{})
	require.ErrorContains(t, err, "no placement driver answers at 127.0.0.1:1, 127.0.0.1:2")
}
