package check_test

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/spread"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// TestTenants compares what patterns read in all partitions of a design of many tenants with a count
// over its items that knows neither templates nor spaces nor requests.
func TestTenants(t *testing.T) {
	proptest.NeedLong(t)
	m, err := modelfile.Load("../world/testdata/tenants.yaml")
	require.NoError(t, err)
	w, err := world.Build(t.Context(), m, world.Options{})
	require.NoError(t, err)
	defer w.Close()
	r, err := check.Run(t.Context(), w, check.Options{})
	require.NoError(t, err)

	text := func(it *world.Item, name string) string { return string(it.Attributes.Get(name).Raw()) }
	prefixed := func(prefix string) func([]*world.Item) []*world.Item {
		return func(rows []*world.Item) []*world.Item {
			return slices.DeleteFunc(slices.Clone(rows), func(it *world.Item) bool { return !strings.HasPrefix(text(it, "SK"), prefix) })
		}
	}
	// The seven days that have the most bytes.
	week := func(rows []*world.Item) (best []*world.Item) {
		day := func(it *world.Item) time.Time {
			at, err := time.Parse(time.DateOnly, strings.Split(text(it, "SK"), "#")[1])
			require.NoError(t, err)
			return at
		}
		days := make([]time.Time, len(rows))
		for i, it := range rows {
			days[i] = day(it)
		}

		for _, from := range days {
			var in []*world.Item
			for i, it := range rows {
				if !days[i].Before(from) && days[i].Before(from.AddDate(0, 0, 7)) {
					in = append(in, it)
				}
			}

			if bytesOf(in) > bytesOf(best) {
				best = in
			}
		}
		return best
	}
	all := prefixed("")
	for _, tt := range []struct {
		pattern, key, prefix string
		read                 func([]*world.Item) []*world.Item
	}{
		{"an organization with its members and projects", "PK", "ORG#", all},
		{"members of an organization", "PK", "ORG#", prefixed("MEMBER#")},
		{"organizations of a user", "GSI1PK", "USER#", all},
		{"projects of an organization", "PK", "ORG#", prefixed("PROJ#")},
		{"tasks of a project", "PK", "PROJ#", prefixed("TASK#")},
		{"tasks due in a week", "PK", "PROJ#", week},
		{"open tasks of a project", "GSI1PK", "PROJ#", all},
		{"open tasks of a project, by a filter", "PK", "PROJ#", all},
		{"comments on a task", "PK", "TASK#", all},
		{"the log of a month", "PK", "LOG#", all},
	} {
		parts := map[string][]*world.Item{}
		for i := range w.Items {
			if key := text(&w.Items[i], tt.key); strings.HasPrefix(key, tt.prefix) {
				parts[key] = append(parts[key], &w.Items[i])
			}
		}
		type slice struct{ bytes, rows int }
		var read []slice
		for _, part := range parts {
			if part[0].Generated { // in the sample's partition, the values are the pattern's own
				part = tt.read(part)
			}
			read = append(read, slice{bytesOf(part), len(part)})
		}
		if tt.pattern == "comments on a task" { // tasks without comments are asked too
			tasks := 0
			for i := range w.Items {
				if e := w.Items[i].Entity; e != nil && e.Name == "Task" {
					tasks++
				}
			}
			require.Greater(t, tasks, len(read))
			read = append(read, make([]slice, tasks-len(read))...)
		}
		slices.SortFunc(read, func(a, b slice) int { return cmp.Or(a.bytes-b.bytes, a.rows-b.rows) })

		i := slices.IndexFunc(r.Patterns, func(p check.PatternResult) bool { return p.Pattern.Name == tt.pattern })
		p := r.Patterns[i]
		require.Empty(t, p.Failures, tt.pattern)
		s := p.Spread
		require.Equal(t, len(parts), s.Partitions, tt.pattern)
		for i, got := range []spread.Reading{s.P50, s.P95, s.Worst} {
			share := []float64{0.5, 0.95, 1}[i]
			want := read[int(math.Ceil(share*float64(len(read))))-1]
			require.Equal(t, want, slice{got.Bytes, got.Examined}, "%s: %v", tt.pattern, share)
			require.Equal(t, max(math.Ceil(float64(want.bytes)/4096), 1)/2, got.Units, tt.pattern)
		}
	}
}

func bytesOf(items []*world.Item) (n int) {
	for _, it := range items {
		n += it.Attributes.Size()
	}
	return n
}
