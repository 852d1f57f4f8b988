package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

// testCompact checks that Compact of a capability.Compactor does not change what reads return, that Updates continue
// while it runs, and that it returns when its context ends.
func testCompact(t *testing.T, s store.Store) {
	compactor, ok := s.(capability.Compactor)
	if !ok {
		t.Skip("the engine does not compact")
	}
	require.NoError(t, compactor.Compact(t.Context()), "an empty store")
	for round := range 5 {
		update(t, s, func(w store.Writer) {
			for i := range 300 {
				put(t, w, store.Space(i%3), row{"p", fmt.Sprint(i), fmt.Sprint(round)})
			}
			del(t, w, 1, "p", fmt.Sprint(3*round+1))
		})
	}
	before := snapshot(t, s)
	view(t, s, func(r store.Reader) {
		require.NoError(t, compactor.Compact(t.Context()), "in a View")
		require.Equal(t, "4", get(t, r, 0, "p", "0"))
	})
	require.Equal(t, before, snapshot(t, s))

	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 20 {
				err := s.Update(t.Context(), func(w store.Writer) error {
					return w.Put(5, []byte{byte(i)}, []byte{byte(n)}, []byte("beside"))
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 10 {
		require.NoError(t, compactor.Compact(t.Context()))
	}
	wg.Wait()
	view(t, s, func(r store.Reader) { require.Len(t, scan(t, r, 5, store.Everything()), 80) })
	update(t, s, func(w store.Writer) { require.NoError(t, w.Clear(5)) })
	require.NoError(t, compactor.Compact(t.Context()))
	require.Equal(t, before, snapshot(t, s))

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStop)
	require.ErrorIs(t, compactor.Compact(ctx), errStop)
	require.NoError(t, s.Close())
	require.ErrorIs(t, compactor.Compact(t.Context()), store.ErrClosed)
}
