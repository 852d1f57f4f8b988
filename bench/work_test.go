package bench_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/bench/work"
)

func TestWorkloadsHaveNames(t *testing.T) {
	var names []string
	for _, w := range work.All() {
		if !regexp.MustCompile(`^[a-z]+(-[a-z0-9]+)*$`).MatchString(w.Name) || w.About == "" {
			t.Errorf("workload %q, %q", w.Name, w.About)
		}
		if slices.Contains(names, w.Name) {
			t.Errorf("two workloads are called %s", w.Name)
		}
		names = append(names, w.Name)
		require.Equal(t, w.Shape(work.Size{}), work.Find(w.Name).Shape(work.Size{}))
	}
	require.Nil(t, work.Find("nothing"))
}

// TestItems checks that an item has about the size asked for, that its JSON is the same item, and that other versions
// of the item have the same size and key.
func TestItems(t *testing.T) {
	for _, size := range []int{100, 1000, 40 << 10} {
		for _, ix := range []work.Indexes{work.NoIndex, work.PlainIndex, work.MultiIndex} {
			s := work.Shape{Items: 10_000, Collection: 100, Size: size, Indexes: ix}
			for _, i := range []int{0, 1, 999, 9999} {
				it := s.Item(i, 0)
				if got := it.Size(); got < size-10 || got > size+10 {
					t.Errorf("item %d of %+v has %d bytes", i, s, got)
				}
				require.Equal(t, it.Size(), s.Item(i, 27).Size())
				require.Equal(t, s.Key(i).Get("SK"), it.Get("SK"))
				var doc map[string]map[string]string
				require.NoError(t, json.Unmarshal(s.ItemJSON(nil, i, 0), &doc))
				require.Len(t, doc, it.Len())
				require.Equal(t, s.KeyBinds(i)[0].Text, doc["PK"]["S"])
			}
		}
	}
}

func TestFullPage(t *testing.T) {
	w := work.Find("page")
	s := w.Shape(work.Size{})
	c := w.Calls(s, 10, 1)
	require.Len(t, c, s.Items/s.Collection, "one call for each collection")
	for _, c := range c[:3] {
		require.True(t, c.Page)
		size := 0
		for i := range c.Want {
			size += s.Item(i, 0).Size()
		}
		require.InDelta(t, 1<<20, size, 20_000)
	}
	small := w.Shape(work.Size{Items: 500})
	require.False(t, w.Calls(small, 1, 1)[0].Page)
	require.Equal(t, 500, w.Calls(small, 1, 1)[0].Want)
}
