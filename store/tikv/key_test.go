package tikv_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/tests/proptest"
	"github.com/sortkey/sortkey/store"
)

// TestLongAddresses stores rows whose addresses are longer than a key of TiKV may be,
// many of them with the same beginning.
func TestLongAddresses(t *testing.T) {
	proptest.NeedLong(t)
	t.Parallel()
	c := newCluster(t)
	s := c.open(t)
	long := strings.Repeat("x", 3<<10-30)
	var sorts []string
	for _, middle := range []string{"", "\x00", "a", "aa", strings.Repeat("a", 20), strings.Repeat("b", 200), strings.Repeat("\xff", 5000)} {
		for _, end := range []string{"", "\x00", "1", "2", "\xff"} {
			sorts = append(sorts, long+middle+end, long[:len(long)-1]+middle+end, middle+end)
		}
	}
	slices.Sort(sorts)
	sorts = slices.Compact(sorts)
	partitions := []string{"p", strings.Repeat("\x00", 2048)}
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		for _, p := range partitions {
			for i, at := range sorts {
				if err := w.Put(1, []byte(p), []byte(at), fmt.Append(nil, i)); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	check := func(r store.Reader, p string) {
		for i, at := range sorts {
			value, ok, err := r.Get(1, []byte(p), []byte(at))
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, fmt.Sprint(i), string(value))
		}
		step := 2
		if proptest.Long() {
			step = 1
		}
		for i := 0; i < len(sorts); i += 13 * step {
			for j := i; j < len(sorts); j += 17 * step {
				rng := store.Range{Lo: []byte(sorts[i]), Hi: []byte(sorts[j])}
				for _, reverse := range []bool{false, true} {
					want := slices.Clone(sorts[i:j])
					if reverse {
						slices.Reverse(want)
					}
					var got []string
					for row, err := range r.Query(1, []byte(p), rng, reverse) {
						require.NoError(t, err)
						got = append(got, string(row.Sort))
					}
					require.True(t, slices.Equal(want, got), "%d to %d, reverse %t: %d rows, want %d", i, j, reverse, len(got), len(want))
				}
			}
		}
	}
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		for _, p := range partitions {
			check(r, p)
		}
		return nil
	}))
	require.NoError(t, s.Update(t.Context(), func(w store.Writer) error {
		check(w, partitions[1])
		for _, at := range sorts {
			if err := w.Delete(1, []byte(partitions[1]), []byte(at)); err != nil {
				return err
			}
		}
		for row, err := range w.Scan(1, store.Everything()) {
			require.NoError(t, err)
			require.True(t, bytes.Equal(row.Partition, []byte("p")))
		}
		return w.Clear(1)
	}))
	require.NoError(t, s.View(t.Context(), func(r store.Reader) error {
		found, err := rows(r, "p", store.Range{}, false)
		require.Empty(t, found)
		return err
	}))
}
