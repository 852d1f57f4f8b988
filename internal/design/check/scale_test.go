package check_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

const scaled = `name: scaled
tables: {Tab: {partition: PK, sort: SK, indexes: {ByKind: {partition: kind, sort: SK}}}}
entities:
  Few:
    attributes: {PK: "F#{few}", SK: "{id}", kind: "{kind}"}
    samples: [{few: z, id: "1", kind: z}]
    count: %d
    rates: {reads: 1000, writes: 1000}
  Owner:
    attributes: {PK: "O#{owner}", SK: A}
    count: %d
  Own:
    attributes: {PK: "O#{owner}", SK: "B#{id}"}
    count: %d
fields:
  few: {values: [a, b, c, d]}
  kind: {values: [x, y]}
  owner: {}
  id: {}
patterns:
  - name: few
    query: {entity: Few, where: {few: a}}
  - name: page of few
    query: {entity: Few, where: {few: a}, limit: 5}
  - name: sample
    query: {entity: Few, where: {few: z}}
  - name: by kind
    query: {entity: Few, index: ByKind, where: {kind: x}}
  - name: scan
    scan: {table: Tab}
`

// TestScale compares the figures that are extrapolated from a sample with those of all items.
func TestScale(t *testing.T) {
	slow(t)
	unit := min(proptest.Cases(1000), 1000)
	source := fmt.Sprintf(scaled, 100*unit, unit, 10*unit)
	whole, sample := checked(t, dataset.Options{MaxItems: 1 << 20}, source), checked(t, dataset.Options{MaxItems: 111 * unit / 10}, source)
	require.Equal(t, 1.0, whole.Scale)
	require.InDelta(t, 0.1, sample.Scale, 0.001)
	// A sample is random, so its figures are only close.
	near := func(want, got float64, what string) {
		t.Helper()
		require.InEpsilon(t, want, got, 0.2, what)
	}
	for i, s := range sample.Tables {
		of := whole.Tables[i]
		near(float64(of.Items), s.DeclaredItems, "items")
		near(float64(of.Bytes), s.DeclaredBytes, "bytes")
		near(float64(of.ByItems.Items), s.ByItems.DeclaredItems, "items of the largest partition")
		near(float64(of.ByBytes.Bytes), s.ByBytes.DeclaredBytes, "bytes of the largest partition")
		near(of.ByWrites.Writes, s.ByWrites.Writes, "writes")
		require.Equal(t, float64(of.Items), of.DeclaredItems)
	}
	for i, want := range []float64{10, 1, 1, 10, 10} {
		p := sample.Patterns[i]
		require.Equal(t, 1.0, whole.Patterns[i].Growth)
		if want == 1 {
			require.Equal(t, want, p.Growth, p.Pattern.Name)
		} else {
			near(float64(whole.Patterns[i].Report.Examined), p.Growth*float64(p.Report.Examined), p.Pattern.Name)
		}
	}
	var b strings.Builder
	require.NoError(t, report.Text(&b, sample, nil, report.TextOptions{}))
	require.Contains(t, b.String(), "a sample: 10% of the declared items")
	require.Contains(t, b.String(), " times these rows at the declared scale")
}

// TestOneKey holds that a request for one key costs the same at the declared scale.
func TestOneKey(t *testing.T) {
	r := checked(t, dataset.Options{MaxItems: 200}, `name: m
tables: {Tab: {partition: PK, sort: SK}, Hash: {partition: PK}}
entities:
  E:
    table: Tab
    fields: {few: {values: [a]}, n: {type: int(7), distribution: sequence}}
    attributes: {PK: "F#{few}", SK: "{n:int(7)}"}
    count: 10000
  H:
    table: Hash
    fields: {m: {type: int(5), distribution: sequence}}
    attributes: {PK: "{m:int(5)}"}
    count: 10000
patterns:
  - {name: get, get: {entity: E, where: {few: a, n: 5}}}
  - {name: query, query: {entity: E, where: {few: a, n: 5}}}
  - {name: of a table by its partition, query: {entity: H, where: {m: 5}}}
  - {name: some, query: {entity: E, where: {few: a, n: {between: [1, 9]}}}}
`)
	for i, want := range []float64{1, 1, 1, 100} {
		p := r.Patterns[i]
		require.NotZero(t, p.Report.Examined, p.Pattern.Name)
		require.InDelta(t, want, p.Growth, 0.1, p.Pattern.Name)
	}
}

// TestThenOfSample holds that rows of a sample may lead to items that the sample lacks, and that rows of a whole model
// may not.
func TestThenOfSample(t *testing.T) {
	for _, tt := range []struct {
		most          int
		samples       string
		sample, fails bool
	}{
		{most: 10000},
		{most: 600, sample: true},
		{most: 10000, samples: `{order: "0", id: none}`, fails: true},
	} {
		w, r := checkedIn(t, dataset.Options{MaxItems: tt.most}, fmt.Sprintf(`name: m
tables: {Tab: {partition: PK, sort: SK}}
entities:
  Customer: {attributes: {PK: "C#{id}", SK: P}, count: 2000}
  Order: {attributes: {PK: "O", SK: "{order}", id: "{id}"}, samples: [%s], count: 4000}
patterns: [{name: orders, query: {entity: Order, where: {}, limit: 40}, then: Customer, expect: {units: 100}}]
`, tt.samples))
		require.Equal(t, tt.sample, w.Scale < 1)
		p := r.Patterns[0]
		require.Equal(t, tt.sample || tt.fails, p.Batch.Items < p.Batch.Keys)
		require.Equal(t, tt.fails, len(p.Failures) > 0, p.Failures)
	}
}
