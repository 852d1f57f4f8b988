package storetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
)

func testOwnWrites(t *testing.T, s store.Store) {
	update(t, s, func(w store.Writer) { put(t, w, 1, row{"p", "a", "old"}, row{"p", "b", "old"}) })
	update(t, s, func(w store.Writer) {
		before, _, err := w.Get(1, []byte("p"), []byte("b"))
		require.NoError(t, err)
		put(t, w, 1, row{"p", "b", "new"}, row{"p", "c", "new"})
		require.Equal(t, "old", string(before), "a value that Get returned does not change")
		del(t, w, 1, "p", "a")
		require.Equal(t, "-", get(t, w, 1, "p", "a"))
		require.Equal(t, "new", get(t, w, 1, "p", "b"))
		require.Equal(t, "new", get(t, w, 1, "p", "c"))
		require.Equal(t, []string{"b", "c"}, sorts(t, w, 1, "p", store.Range{}, false))
		require.Equal(t, []string{"c", "b"}, sorts(t, w, 1, "p", store.Range{}, true))
		require.Equal(t, []row{{"p", "b", "new"}, {"p", "c", "new"}}, scan(t, w, 1, store.Everything()))
		put(t, w, 1, row{"p", "a", "back"})
		require.Equal(t, []string{"a", "b", "c"}, sorts(t, w, 1, "p", store.Range{}, false))
		view(t, s, func(r store.Reader) {
			require.Equal(t, "old", get(t, r, 1, "p", "b"), "a View inside an Update sees the state before it")
		})
	})
	view(t, s, func(r store.Reader) {
		require.Equal(
			t, []row{{"p", "a", "back"}, {"p", "b", "new"}, {"p", "c", "new"}}, scan(t, r, 1, store.Everything()),
		)
	})
}

// testWriteWhileIterating changes rows before, at and after the position of a
// running iterator, which must not see the changes.
func testWriteWhileIterating(t *testing.T, s store.Store) {
	var want []string
	reset := func(w store.Writer) {
		require.NoError(t, w.Clear(1))
		want = want[:0]
		for i := range 200 {
			k := fmt.Sprintf("%03d", 2*i)
			want = append(want, k)
			put(t, w, 1, row{"p", k, "old"})
		}
	}

	change := func(w store.Writer, at string) {
		var n int
		_, err := fmt.Sscanf(at, "%d", &n)
		require.NoError(t, err)
		del(t, w, 1, "p", at)
		put(t, w, 1, row{"p", fmt.Sprintf("%03d", n+1), "new"}, row{"p", fmt.Sprintf("%03d", n-1), "new"})
		put(t, w, 1, row{"p", fmt.Sprintf("%03d", (n+100)%400), "changed"})
		del(t, w, 1, "p", fmt.Sprintf("%03d", (n+50)%400))
	}

	for _, fresh := range []bool{true, false} {
		for _, reverse := range []bool{false, true} {
			update(t, s, reset)
			update(t, s, func(w store.Writer) {
				if !fresh {
					reset(w)
				}
				got := []string{}
				for r, err := range w.Query(1, []byte("p"), store.Range{}, reverse) {
					require.NoError(t, err)
					k := string(r.Sort)
					require.Equal(t, "old", string(r.Value), "row %s", k)
					got = append(got, k)
					change(w, k)
					require.Equal(t, "-", get(t, w, 1, "p", k), "the Writer itself sees the change")
				}
				if reverse {
					for i, k := range got {
						require.Equal(t, want[len(want)-1-i], k)
					}
				}
				require.Len(t, got, len(want))
			})
		}
	}

	update(t, s, func(w store.Writer) {
		reset(w)
		n := 0
		for _, err := range w.Scan(1, store.Everything()) {
			require.NoError(t, err)
			if n++; n == 3 {
				require.NoError(t, w.Clear(1))
			}
		}
		require.Equal(t, len(want), n, "Clear under a running Scan")
		require.Empty(t, scan(t, w, 1, store.Everything()))
	})
}

func testNestedIterators(t *testing.T, s store.Store) {
	update(t, s, func(w store.Writer) {
		for _, k := range []string{"a", "b", "c"} {
			put(t, w, 1, row{"p", k, "v"})
		}
		n := 0
		for outer, err := range w.Query(1, []byte("p"), store.Range{}, false) {
			require.NoError(t, err)
			put(t, w, 1, row{"p", string(outer.Sort) + "+", "v"})
			for range w.Query(1, []byte("p"), store.Range{}, true) {
				n++
			}
			require.Len(t, outer.Sort, 1)
		}
		require.Equal(t, 4+5+6, n, "inner loops see what was written before them")
	})
	view(t, s, func(r store.Reader) {
		require.Equal(t, []string{"a", "a+", "b", "b+", "c", "c+"}, sorts(t, r, 1, "p", store.Range{}, false))
	})
}

func testRollbackOnError(t *testing.T, s store.Store) {
	update(t, s, func(w store.Writer) { put(t, w, 1, row{"p", "a", "old"}, row{"p", "b", "old"}) })
	before := snapshot(t, s)
	err := s.Update(t.Context(), func(w store.Writer) error {
		ruin(t, w)
		return errStop
	})
	require.Equal(t, errStop, err, "the function's own error is returned unchanged")
	require.Equal(t, before, snapshot(t, s))
	require.Equal(t, errStop, s.View(t.Context(), func(store.Reader) error { return errStop }))
	update(t, s, func(w store.Writer) { put(t, w, 1, row{"p", "c", "new"}) })
	require.Len(t, snapshot(t, s), 3, "later updates work")
}

func testRollbackOnPanic(t *testing.T, s store.Store) {
	update(t, s, func(w store.Writer) { put(t, w, 1, row{"p", "a", "old"}, row{"p", "b", "old"}) })
	before := snapshot(t, s)
	require.PanicsWithValue(t, "stop", func() {
		_ = s.Update(background(), func(w store.Writer) error {
			ruin(t, w)
			panic("stop")
		})
	})

	require.PanicsWithValue(t, "stop", func() {
		_ = s.Update(background(), func(w store.Writer) error {
			for range w.Scan(1, store.Everything()) {
				ruin(t, w)
				panic("stop")
			}
			return nil
		})
	})

	require.PanicsWithValue(t, "stop", func() {
		_ = s.View(background(), func(store.Reader) error { panic("stop") })
	})
	require.Equal(t, before, snapshot(t, s))
	update(t, s, func(w store.Writer) { put(t, w, 1, row{"p", "c", "new"}) })
	require.Len(t, snapshot(t, s), 3, "later updates work")
}

func ruin(t *testing.T, w store.Writer) {
	put(t, w, 1, row{"p", "a", "new"}, row{"p", "z", "new"}, row{"q", "a", "new"})
	del(t, w, 1, "p", "b")
	require.NoError(t, w.Clear(1))
	put(t, w, 1, row{"r", "a", "new"})
}

func snapshot(t *testing.T, s store.Store) (rows []row) {
	t.Helper()
	view(t, s, func(r store.Reader) { rows = scan(t, r, 1, store.Everything()) })
	return rows
}
