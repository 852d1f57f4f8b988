package placement_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/placement"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// TestSplit checks that splits keep the order and lose nothing, that they end for a
// reason, and that load is conserved.
func TestSplit(t *testing.T) {
	proptest.Check(t, 300, func(t *proptest.T) {
		keys := proptest.SliceOf(t, 1, 60, func(t *proptest.T) placement.Key {
			k := placement.Key{Keys: float64(t.Between(1, 5)), Bytes: float64(t.IntN(1000)), Rows: float64(t.IntN(5))}
			if t.Bool() {
				k.Requests = float64(t.IntN(300))
			}
			return k
		})
		o := placement.Options{
			RangeBytes: float64(t.Between(100, 5000)), RangeRequests: float64(t.Between(50, 1000)),
			Ranges: t.Between(1, 8), Nodes: t.Between(1, 7), Seed: 1 + t.Uint64(),
		}
		s := placement.Split(keys, o)
		if s.Lo[0] != 0 || s.Hi[len(s.Hi)-1] != float64(len(keys)) {
			t.Fatalf("ranges cover [%v, %v), want all of %d", s.Lo[0], s.Hi[len(s.Hi)-1], len(keys))
		}
		var want, got placement.Key
		for _, k := range keys {
			want.Rows, want.Bytes, want.Requests = want.Rows+k.Rows, want.Bytes+k.Bytes, want.Requests+k.Requests
		}
		for i := range s.Lo {
			if s.Lo[i] >= s.Hi[i] || i > 0 && s.Lo[i] != s.Hi[i-1] {
				t.Fatalf("range %d is [%v, %v) after %v", i, s.Lo[i], s.Hi[i], s.Hi[max(i-1, 0)])
			}
			got.Rows, got.Bytes, got.Requests = got.Rows+s.Rows[i], got.Bytes+s.Bytes[i], got.Requests+s.Requests[i]
			// A range begins at a key.
			at := math.Floor(s.Lo[i])
			if n := (s.Lo[i] - at) * keys[int(at)].Keys; math.Abs(n-math.Round(n)) > 1e-6 {
				t.Errorf("range %d begins inside a key, at %v", i, s.Lo[i])
			}
			// A range that is too large is one key.
			if s.Bytes[i] > o.RangeBytes && keysIn(keys, s.Lo[i], s.Hi[i]) > 1 {
				t.Errorf("range %d of %v bytes and %v keys was not split at %v bytes", i, s.Bytes[i], keysIn(keys, s.Lo[i], s.Hi[i]), o.RangeBytes)
			}
		}
		for name, pair := range map[string][2]float64{"rows": {got.Rows, want.Rows}, "bytes": {got.Bytes, want.Bytes}, "requests": {got.Requests, want.Requests}} {
			if math.Abs(pair[0]-pair[1]) > 1e-6 {
				t.Errorf("ranges have %v %s, want %v", pair[0], name, pair[1])
			}
		}
		before, after, distinct := placement.Balance(keys, o)
		if !distinct {
			t.Errorf("a range has two replicas on a node, or its lease elsewhere")
		}
		if sum(after)-want.Requests > 1e-6 || want.Requests-sum(after) > 1e-6 {
			t.Errorf("nodes have %v requests, want %v", sum(after), want.Requests)
		}
		if slices.Max(after) > slices.Max(before)+1e-6 {
			t.Errorf("moves made the hottest node hotter: %v after %v", after, before)
		}
	})
}

// keysIn returns the number of keys at which a range could have been split, and 1.
func keysIn(keys []placement.Key, lo, hi float64) float64 {
	n := 0.0
	for i, k := range keys {
		n += math.Round(k.Keys * max(0, min(hi, float64(i+1))-max(lo, float64(i))))
	}
	return n
}

func sum(list []float64) (s float64) {
	for _, v := range list {
		s += v
	}
	return s
}

// model returns a world of one entity with the given keys.
func model(t *testing.T, partition, sort string, o world.Options) *world.World {
	t.Helper()
	m, err := modelfile.Parse("test.yaml", []byte(strings.NewReplacer("PARTITION", partition, "SORT", sort).Replace(`
name: test
tables: {Log: {partition: PK, sort: SK, indexes: {ByText: {partition: text, sort: SK}}}}
entities:
  Event:
    attributes: {PK: "PARTITION", SK: "SORT"}
    fields: {at: {type: time, from: 2026-01-01, to: 2026-01-10}, id: {}, device: {distinct: 500}, shard: {values: ["0", "1", "2", "3"]}, text: {distinct: 500}}
    count: 5000
    rates: {reads: 400, writes: 10000}
`)))
	require.NoError(t, err)
	w, err := world.Build(t.Context(), m, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func TestHotPartition(t *testing.T) {
	for _, tt := range []struct {
		name, partition, sort string
		hot                   int
	}{
		{"a day", "LOG#{at:date}", "{at}#{id}", 1},
		{"a day, descending", "LOG#{at:date}", "{at:time:desc}#{id}", 1},
		{"a constant", "LOG", "{at}#{id}", 1},
		{"a constant, in no order of time", "LOG", "{id}", 0},
		// Three equal ends are in one range: no key halves their load well enough.
		{"a day in four shards", "LOG#{at:date}#{shard}", "{at}#{id}", 2},
		{"a device", "DEVICE#{device}", "{at}#{id}", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := model(t, tt.partition, tt.sort, world.Options{})
			r, err := placement.Run(t.Context(), w, placement.Options{Nodes: 5})
			require.NoError(t, err)
			// Reads once, writes of the table twice, and those of the index once.
			require.InDelta(t, 400+2*10000, r.Spaces[0].Requests, 1e-3)
			require.InDelta(t, 10000, r.Spaces[1].Requests, 1e-3)
			require.InDelta(t, 2*10000, r.Spaces[2].Requests, 1e-3)
			require.InDelta(t, 5000, r.Spaces[0].Rows, 1e-3)
			require.Len(t, r.Ranges.Hot, tt.hot)
			nodes := 0.0
			for _, n := range r.Nodes {
				nodes += n.Requests
			}
			require.InDelta(t, 400+3*10000+2*10000, nodes, 1e-3, "with the ids of commits")
			again, err := placement.Run(t.Context(), w, placement.Options{Nodes: 5})
			require.NoError(t, err)
			require.Equal(t, r, again, "the same world, placed again")
		})
	}
}

// TestSample checks that a sample has the rows, the load and the split partitions of
// all items.
func TestSample(t *testing.T) {
	var results []*placement.Result
	for _, o := range []world.Options{{}, {MaxItems: 500}} {
		r, err := placement.Run(t.Context(), model(t, "DEVICE#{device}", "{at}#{id}", o), placement.Options{RangeRequests: 2000})
		require.NoError(t, err)
		results = append(results, r)
	}
	all, sample := results[0], results[1]
	require.InDelta(t, 0.1, sample.Scale, 1e-9)
	for i := range all.Spaces {
		require.InDelta(t, all.Spaces[i].Rows, sample.Spaces[i].Rows, 1e-3)
		require.InDelta(t, all.Spaces[i].Requests, sample.Spaces[i].Requests, 1e-3)
		require.InDelta(t, all.Spaces[i].Bytes, sample.Spaces[i].Bytes, 0.05*all.Spaces[i].Bytes)
		require.InDelta(t, all.Spaces[i].Ranges, sample.Spaces[i].Ranges, 2)
	}
	require.Empty(t, sample.Ranges.Hot)
}
