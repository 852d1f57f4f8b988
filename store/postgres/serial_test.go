package postgres_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/pgtest"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/postgres"
)

// TestViewIsSerial checks that a View does not see an update without another one that must come before it. The update
// late reads x and writes y. The update early writes x, so it comes after late in a serial order, but it commits
// first. If a View could see early without late, no order would be right. So late must begin again and see what early
// wrote. Source: Fekete, O'Neil, O'Neil, A read-only transaction anomaly under snapshot isolation.
func TestViewIsSerial(t *testing.T) {
	pgtest.Shared(t)
	for name, before := range map[string]string{"changed": "old", "created": "-"} {
		t.Run(name, func(t *testing.T) {
			s := open(t, database(t), postgres.Options{})
			if before != "-" {
				set(t, s, "x", before)
			}
			set(t, s, "y", "old")
			var tries atomic.Int64
			read, proceed, done := make(chan struct{}), make(chan struct{}), make(chan error)
			go func() {
				done <- s.Update(t.Context(), func(w store.Writer) error {
					x, _, err := w.Get(1, []byte("x"), nil)
					if err != nil {
						return err
					}
					if tries.Add(1) == 1 {
						close(read)
						<-proceed
					}
					return w.Put(1, []byte("y"), nil, append([]byte("after x="), x...))
				})
			}()
			<-read
			set(t, s, "x", "new") // early
			require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
				for key, want := range map[string]string{"x": "new", "y": "old"} {
					v, _, err := r.Get(1, []byte(key), nil)
					require.NoError(t, err)
					require.Equal(t, want, string(v))
				}
				return nil
			}))
			close(proceed)
			require.NoError(t, <-done)
			require.Equal(t, "after x=new", value(t, s, "y"))
			require.Equal(t, int64(2), tries.Load())
			require.Equal(t, int64(1), s.Stats().Conflicts)
		})
	}
}

// TestGet reads single rows without a View.
func TestGet(t *testing.T) {
	proxy, at := newStandin(t, database(t))
	s := open(t, at, postgres.Options{MaxConns: 4, Timeout: 10 * time.Second})
	set(t, s, "there", "1")
	get := func(key string) string {
		v, ok, err := s.Get(t.Context(), 1, []byte(key), nil)
		require.NoError(t, err)
		if !ok {
			return "-"
		}
		return string(v)
	}
	require.Equal(t, "1", get("there"))
	require.Equal(t, "-", get("not there"))
	for _, do := range []action{refuse40001, drain, cutBefore, cutAfter} {
		proxy.once("select value", 1, do)
		require.Equal(t, "1", get("there"), "%s", do)
		require.True(t, proxy.happened())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := s.Get(ctx, 1, []byte("there"), nil)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, s.Close())
	_, _, err = s.Get(t.Context(), 1, []byte("there"), nil)
	require.ErrorIs(t, err, store.ErrClosed)
}
