package check_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/report"
)

// busy is a model whose patterns read one row with the values of the sample. One
// tenant has most of the documents.
const busy = `name: busy
tables: {Docs: {partition: PK, sort: SK, indexes: {ByDay: {partition: day, sort: SK}}}}
fields:
  tenant: {distinct: 50, distribution: zipf(2)}
  doc: {type: ulid}
  body: {size: 2000..3000}
  state: {values: [draft, final]}
  at: {type: time, from: 2026-01-01, to: 2026-01-10}
entities:
  Doc:
    attributes: {PK: "TENANT#{tenant}", SK: "DOC#{state}#{doc}", body: "{body}", day: "DAY#{at:date}"}
    samples: [{tenant: t1, state: draft, doc: 01ARZ3NDEKTSV4RRFFQ69G5FAV, body: x, at: 2025-12-31}]
    count: 3330
patterns:
`

// checked checks a model.
func checked(t *testing.T, o dataset.Options, source string) *check.Result {
	t.Helper()
	_, r := checkedIn(t, o, source)
	return r
}

// checkedIn checks a model, and also returns its dataset.
func checkedIn(t *testing.T, o dataset.Options, source string) (*dataset.Dataset, *check.Result) {
	t.Helper()
	m, err := modelfile.Parse("m.yaml", []byte(source))
	require.NoError(t, err, source)
	w, err := dataset.Build(t.Context(), m, o)
	require.NoError(t, err, source)
	t.Cleanup(func() { w.Close() })
	r, err := check.Run(t.Context(), w, check.Options{})
	require.NoError(t, err, source)
	return w, r
}

// TestBudgets holds that a budget applies to the worst partition unless the model says otherwise.
func TestBudgets(t *testing.T) {
	slow(t)
	tests := []struct{ budgets, want string }{
		{"units: 0.5", `expected at most 0.5 read units, got 650 for 2,060 rows in partition "TENANT#`},
		{"max_rows: 100", `expected at most 100 rows, got 2,060 in partition "TENANT#`},
		{"pages: 1", `expected at most 1 page, got 6 in partition "TENANT#`},
		{"units: 0.5, budget: worst", `2,060 rows`},
		{"units: 10, budget: p95", `expected at most 10 read units, got `},
		{"units: 100, budget: p95", ""},
		{"units: 0.5, max_rows: 1, pages: 1, budget: sample", ""},
		{"waste: 0", ""},
		{"units: 2000, max_rows: 3000, pages: 6", ""},
	}
	patterns := ""
	for i, tt := range tests {
		patterns += fmt.Sprintf("  - {name: documents %d, query: {entity: Doc, where: {tenant: t1}}, expect: {rows: 1, %s}}\n", i, tt.budgets)
	}
	r := checked(t, dataset.Options{}, busy+patterns)
	for i, tt := range tests {
		t.Run(tt.budgets, func(t *testing.T) {
			pr := r.Patterns[i]
			if tt.want == "" {
				require.Empty(t, pr.Failures)
				return
			}
			require.Len(t, pr.Failures, 1)
			require.Contains(t, pr.Failures[0].Message, tt.want)
			require.Contains(t, pr.Failures[0].Advice, "write budget: sample")
		})
	}
}

// slow skips a test of many items with -short, which is used with the race detector. One goroutine builds and reads
// the items, so there is nothing to detect.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("many items in one goroutine")
	}
}

// TestSpread compares the spread of a pattern with a count of all rows.
func TestSpread(t *testing.T) {
	slow(t)
	r := checked(t, dataset.Options{}, busy+`
  - {name: all, query: {entity: Doc, where: {tenant: t1}}}
  - {name: of a state, query: {entity: Doc, where: {tenant: t1, state: draft}}}
  - {name: page, query: {entity: Doc, where: {tenant: t1}, limit: 7}}
  - {name: one, query: {entity: Doc, where: {tenant: t1, state: draft, doc: 01ARZ3NDEKTSV4RRFFQ69G5FAV}}}
  - {name: get, get: {entity: Doc, where: {tenant: t1, state: draft, doc: 01ARZ3NDEKTSV4RRFFQ69G5FAV}}}
  - {name: filtered, query: {entity: Doc, where: {tenant: t1}, filter: "body = 'x'"}}
  - {name: day, query: {entity: Doc, index: ByDay, where: {at: 2025-12-31}}}
  - {name: key, query: {table: Docs, where: {PK: TENANT#t1}}}
  - {name: scan, scan: {table: Docs}}
`)
	by := map[string]*load.Spread{}
	for _, p := range r.Patterns {
		require.Empty(t, p.Failures, p.Pattern.Name)
		by[p.Pattern.Name] = p.Spread
	}
	require.Nil(t, by["scan"])
	largest := r.Tables[0].ByItems
	for _, name := range []string{"all", "key"} {
		s := by[name]
		require.Equal(t, r.Tables[0].Partitions, s.Partitions, name)
		require.Equal(t, largest.Items, s.Worst.Rows, name)
		require.Equal(t, largest.Key.Text(), s.Worst.Key.Text(), name)
		require.Equal(t, largest.Bytes, s.Worst.Bytes, name)
		require.Less(t, s.P50.Units, s.P95.Units, name)
		require.Less(t, s.P95.Units, s.Worst.Units, name)
		require.Contains(t, string(s.Worst.Request), strings.Trim(s.Worst.Key.Text(), "\""), name)
	}
	require.InEpsilon(t, float64(largest.Items)/2, float64(by["of a state"].Worst.Rows), 0.05)
	require.Equal(t, 7, by["page"].Worst.Rows)
	for _, name := range []string{"one", "get"} {
		require.Equal(t, 44, by[name].Partitions, name)
		require.Equal(t, 1, by[name].P50.Rows, name)
		require.Equal(t, 1, by[name].Worst.Rows, name)
	}
	require.Equal(t, largest.Items, by["filtered"].Worst.Examined)
	require.Equal(t, 0, by["filtered"].Worst.Rows)
	require.Equal(t, 1.0, by["filtered"].Worst.Waste)
	require.Equal(t, 11, by["day"].Partitions)
	require.InEpsilon(t, 333, by["day"].P50.Rows, 0.1)

	var text, doc bytes.Buffer
	require.NoError(t, report.Text(&text, r, nil, report.TextOptions{}))
	require.Contains(t, text.String(), "the same request in 44 partitions, by cost:\n             p50 ")
	require.Contains(t, text.String(), "worst  2,060 rows, 650 read units, 6 pages: "+largest.Key.Text())
	require.NoError(t, report.JSON(&doc, r, nil))
	var out struct {
		Patterns []struct {
			Spread *struct {
				Partitions      int
				P50, P95, Worst struct {
					Partition   []map[string]string
					Rows, Pages int
					Units       float64
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(doc.Bytes(), &out))
	require.Equal(t, 2060, out.Patterns[0].Spread.Worst.Rows)
	require.Equal(t, 6, out.Patterns[0].Spread.Worst.Pages)
	require.Equal(t, largest.Key.Text(), `"`+out.Patterns[0].Spread.Worst.Partition[0]["S"]+`"`)
}

// TestSpreadScale holds that budgets apply at the declared scale.
func TestSpreadScale(t *testing.T) {
	slow(t)
	model := strings.Replace(busy, "count: 3330", "count: 33300", 1) + `
  - {name: all, query: {entity: Doc, where: {tenant: t1}}, expect: {max_rows: 10000}}`
	r := checked(t, dataset.Options{MaxItems: 3330}, model)
	s := r.Patterns[0].Spread
	require.InDelta(t, 10, s.Worst.Growth, 0.2)
	require.Len(t, r.Patterns[0].Failures, 1)
	require.Contains(t, r.Patterns[0].Failures[0].Message, "got 2,060, about 20,315 at the declared scale, in partition")
}
