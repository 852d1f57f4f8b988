package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/store"
)

func fill(t *testing.T, s store.Store, partitions, perPartition int) []row {
	t.Helper()
	var rows []row
	for p := range partitions {
		for k := range perPartition {
			rows = append(rows, row{fmt.Sprintf("p%d", p), fmt.Sprintf("%03d", k), fmt.Sprint(p, k)})
		}
	}
	update(t, s, func(w store.Writer) { put(t, w, 1, rows...) })
	return ordered(rows)
}

func testScanOrder(t *testing.T, s store.Store) {
	rows := fill(t, s, 50, 3)
	view(t, s, func(r store.Reader) {
		got := scan(t, r, 1, store.Everything())
		require.Equal(t, rows, got)
		require.True(t, slices.IsSortedFunc(got, func(a, b row) int {
			return int(store.Hash([]byte(a.partition))) - int(store.Hash([]byte(b.partition)))
		}))
		// Only one hash, and the hashes next to it.
		h := store.Hash([]byte("p7"))
		one := scan(t, r, 1, store.Span{First: h, Last: h})
		require.Equal(t, []row{{"p7", "000", "7 0"}, {"p7", "001", "7 1"}, {"p7", "002", "7 2"}}, one)
		below, above := scan(t, r, 1, store.Span{Last: h - 1}), scan(t, r, 1, store.Span{First: h + 1, Last: 1<<32 - 1})
		require.Equal(t, rows, slices.Concat(below, one, above))
	})
}

func testScanSegments(t *testing.T, s store.Store) {
	rows := fill(t, s, 40, 2)
	view(t, s, func(r store.Reader) {
		for _, total := range []uint32{1, 2, 3, 7, 64, 4096} {
			all := []row{}
			for i := range total {
				span := store.Segment(i, total)
				for _, got := range scan(t, r, 1, span) {
					require.True(t, span.Contains(position(got)))
					all = append(all, got)
				}
			}
			require.Equal(t, rows, all, "%d segments", total)
		}
	})
}

// testScanAfter starts scans at every row, at places between rows, and at the places of deleted rows.
func testScanAfter(t *testing.T, s store.Store) {
	rows := fill(t, s, 12, 4)
	after := func(p store.Position, span store.Span) []row {
		out := []row{}
		span.After = &p
		for _, r := range rows {
			if span.Contains(position(r)) {
				out = append(out, r)
			}
		}
		return out
	}

	check := func() {
		t.Helper()
		view(t, s, func(r store.Reader) {
			places := []store.Position{
				{}, {Partition: []byte("absent")}, {Partition: []byte("\x00"), Sort: []byte("\xff")},
			}
			for p := range 12 {
				for _, k := range []string{"", "000", "001", "001\x00", "002", "003", "\xff"} {
					places = append(places, store.Position{Partition: fmt.Appendf(nil, "p%d", p), Sort: []byte(k)})
				}
			}
			for _, p := range places {
				for i := range uint32(4) {
					for _, span := range []store.Span{store.Everything(), store.Segment(i, 4)} {
						want := after(p, span)
						span.After = &p
						require.Equal(t, want, scan(t, r, 1, span), "after %q in %d…%d", p, span.First, span.Last)
					}
				}
			}
		})
	}

	check()
	update(t, s, func(w store.Writer) {
		kept := rows[:0:0]
		for i, r := range rows {
			if i%3 == 0 {
				del(t, w, 1, r.partition, r.sort)
			} else {
				kept = append(kept, r)
			}
		}
		rows = kept
	})

	check()
}

func testClear(t *testing.T, s store.Store) {
	fill(t, s, 30, 30)
	update(t, s, func(w store.Writer) {
		put(t, w, 2, row{"p", "k", "other"})
		put(t, w, 1, row{"p", "new", "v"})
		require.NoError(t, w.Clear(1))
		require.Empty(t, scan(t, w, 1, store.Everything()))
		require.Equal(t, "-", get(t, w, 1, "p", "new"))
		require.NoError(t, w.Clear(1))
		require.NoError(t, w.Clear(99))
		put(t, w, 1, row{"p", "again", "v"})
	})

	view(t, s, func(r store.Reader) {
		require.Equal(t, []row{{"p", "again", "v"}}, scan(t, r, 1, store.Everything()))
		require.Equal(t, "other", get(t, r, 2, "p", "k"))
	})
	update(t, s, func(w store.Writer) {
		for _, space := range []store.Space{1, 2} {
			require.NoError(t, w.Clear(space))
		}
	})
	view(t, s, func(r store.Reader) {
		require.Empty(t, scan(t, r, 1, store.Everything()))
		require.Empty(t, scan(t, r, 2, store.Everything()))
	})
	rows := fill(t, s, 3, 3)
	err := s.Update(t.Context(), func(w store.Writer) error {
		require.NoError(t, w.Clear(1))
		return errStop
	})
	require.ErrorIs(t, err, errStop)
	view(t, s, func(r store.Reader) { require.Equal(t, rows, scan(t, r, 1, store.Everything())) })
}
