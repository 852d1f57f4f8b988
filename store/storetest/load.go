package storetest

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

// add adds puts of rows and deletions of the rows in gone as one run.
func add(l store.Loading, space store.Space, rows, gone []row) error {
	changes := map[string][]byte{}
	for _, r := range rows {
		changes[string(address.Append(nil, space, []byte(r.partition), []byte(r.sort)))] = []byte(r.value)
	}
	for _, r := range gone {
		changes[string(address.Append(nil, space, []byte(r.partition), []byte(r.sort)))] = nil
	}
	return l.Add(func(yield func(addr, value []byte) bool) {
		for _, addr := range slices.Sorted(maps.Keys(changes)) {
			if !yield([]byte(addr), changes[addr]) {
				return
			}
		}
	})
}

// testLoad checks that a Load of a capability.Loader behaves like an Update: its changes are applied completely or
// not at all, and after the Updates before it. Unlike an Update, a Load does not see its own changes.
func testLoad(t *testing.T, s store.Store) {
	loader, ok := s.(capability.Loader)
	if !ok {
		t.Skip("the engine does not load")
	}
	update(t, s, func(w store.Writer) { put(t, w, 1, row{"p", "a", "1"}, row{"p", "b", "2"}, row{"q", "a", "3"}) })
	before := snapshot(t, s)
	var kept store.Loading
	err := loader.Load(t.Context(), func(l store.Loading) error {
		kept = l
		require.NoError(t, add(l, 1, []row{{"r", "", "new"}}, []row{{"p", "a", ""}}))
		return errStop
	})
	require.ErrorIs(t, err, errStop)
	require.Equal(t, before, snapshot(t, s), "a Load that fails changes nothing")
	_, _, err = kept.Get(1, []byte("p"), []byte("a"))
	require.ErrorIs(t, err, store.ErrClosed)
	require.ErrorIs(t, add(kept, 1, []row{{"r", "", "new"}}, nil), store.ErrClosed)

	err = loader.Load(t.Context(), func(l store.Loading) error {
		require.NoError(t, add(l, 2, []row{{"\x00", "\x00", ""}}, nil))
		require.NoError(t, add(l, 1, []row{{"p", "b", "4"}, {"r", "", "5"}}, []row{{"p", "a", ""}, {"nobody", "", ""}}))
		require.Equal(t, "1", get(t, l, 1, "p", "a"), "reads do not see what has been added")
		require.Equal(t, "-", get(t, l, 1, "r", ""))
		return nil
	})
	require.NoError(t, err)
	check := func(r store.Reader) {
		require.Equal(t, "-", get(t, r, 1, "p", "a"))
		require.Equal(t, "4", get(t, r, 1, "p", "b"))
		require.Equal(t, "3", get(t, r, 1, "q", "a"))
		require.Equal(t, "5", get(t, r, 1, "r", ""))
		require.Empty(t, get(t, r, 2, "\x00", "\x00"))
	}
	view(t, s, check)
	update(t, s, func(w store.Writer) {
		check(w)
		put(t, w, 1, row{"p", "a", "6"})
	})
	view(t, s, func(r store.Reader) { require.Equal(t, "6", get(t, r, 1, "p", "a")) })
	require.NoError(t, loader.Load(t.Context(), func(store.Loading) error { return nil }))

	func() {
		defer func() { require.Equal(t, errStop, recover()) }()
		_ = loader.Load(t.Context(), func(store.Loading) error { panic(errStop) })
	}()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStop)
	require.ErrorIs(t, loader.Load(ctx, func(store.Loading) error { return nil }), errStop)
	require.NoError(t, s.Close())
	require.ErrorIs(t, loader.Load(t.Context(), func(store.Loading) error { return nil }), store.ErrClosed)
}
