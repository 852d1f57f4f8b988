package check_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/modelfile"
)

const months = `name: m
tables: {Tab: {partition: PK, sort: SK, indexes: {ByState: {partition: GPK, sort: SK}}}}
fields: {at: {type: time}, body: {size: 4096}, state: {values: [new, old]}}
entities:
  E:
    attributes: {PK: "D#{d}", SK: "{at:time}", body: "{body}", GPK: "S#{state}"}
    samples:
      - {d: a, at: 2025-01-10T00:00:00Z, body: x, state: new}
      - {d: b, at: 2025-02-10T00:00:00Z, body: x, state: old}
      - {d: b, at: 2025-02-20T00:00:00Z, body: x, state: old}
      - {d: b, at: 2025-04-20T00:00:00Z, body: x, state: old}
patterns:
  - {name: p, query: {entity: E, %s}}
`

// TestWindows checks that the cost of a value is that of its busiest window, and that the mean is over all windows.
func TestWindows(t *testing.T) {
	read := func(query string) check.PatternResult {
		return checked(t, dataset.Options{}, strings.Replace(months, "%s", query, 1)).Patterns[0]
	}
	p := read(`where: {d: a, at: {between: [2025-01, 2025-01]}}`)
	require.Equal(t, 2, p.Spread.Worst.Rows)
	require.Contains(t, p.Spread.Worst.Place(), `"D#b", SK BETWEEN "2025-02-01`)
	require.InDelta(t, 8*0.5/8, p.Spread.Mean, 1e-9, "two values in four months, each item of a few bytes")

	p = read(`where: {d: a, at: {">=": 2025-02-15}}`)
	require.Equal(t, 0, p.Total.Returned)
	require.Equal(t, 2, p.Spread.Worst.Rows, "from the bound on")

	p = read(`index: ByState, where: {state: new}`)
	require.Nil(t, p.Spread, "a listed value in the partition key of an index stays")
	require.Equal(t, 1, p.Total.Returned)
}

// TestSamples checks how a rate is divided if the model has only samples: among the number of values that the model
// allows. If that number depends on a missing count, no partition gets a load. A listed value keeps the whole rate.
func TestSamples(t *testing.T) {
	const source = `name: m
tables: {Tab: {partition: PK, sort: SK}}
fields: {kind: {distinct: 5}, state: {values: [NEW, DONE]}}
entities:
  P: {attributes: {PK: "P#{p}", SK: A}, samples: [{p: a}, {p: b}]}
  C: {of: P, attributes: {PK: "P#{p}", SK: "C#{c}"}, samples: [{p: a, c: x}, {p: b, c: x}]}
  E: {attributes: {PK: "E#{kind}", SK: "{e}"}, samples: [{kind: k, e: x}]}
  S: {attributes: {PK: "S#{state}", SK: "{e}"}, samples: [{state: NEW, e: x}, {state: DONE, e: y}]}
patterns:
  - {name: q, rate: 100, query: {entity: %s}}
`
	for query, want := range map[string]float64{
		"C, where: {p: a}": 0, "C, where: {p: a}}, asked: zipf(1.5), expect: {rows: 1": 0, "E, where: {kind: k}": 100 / 5 * 0.5, "S, where: {state: NEW}": 100 * 0.5,
	} {
		r := checked(t, dataset.Options{}, strings.Replace(source, "%s", query, 1))
		most := 0.0
		if p := r.Tables[0].ByReads; p != nil {
			most = p.Reads
		}
		require.InDelta(t, want, most, 1e-9, query)
		require.InDelta(t, 50, r.Tables[0].Reads, 1e-9, query)
		if want == 0 { // the report of the pattern names the entity without a count
			require.Equal(t, "P", r.Patterns[0].Uncounted().Name)
		} else {
			require.Nil(t, r.Patterns[0].Uncounted())
		}
	}
}

// TestSampled checks that the figures from a sample are close to those from all items: for a sparse index, for the
// first item of a zipf distribution, for the months of a device, for windows over many devices and over several months
// with few rows each, for the follow-up reads of a shared parent, and for keys of which many are drawn twice.
func TestSampled(t *testing.T) {
	const source = `name: m
tables: {Tab: {partition: PK, sort: SK, indexes: {ByState: {partition: st, sort: SK}, ByDay: {partition: kind, sort: SK}}}}
entities:
  O:
    fields: {state: {values: [NEW, DONE, DONE, DONE]}, n: {type: number, from: 1, to: 9}}
    attributes: {PK: "O#{o}", SK: "{o}", st: {template: "{state}", when: {state: [NEW]}}, n: {template: "{n:number}", type: N}}
    count: 5000
  D: {attributes: {PK: "D#{d}", SK: A}, count: 100}
  R:
    of: D
    per: 100
    fields: {at: {type: time, from: 2025-01-01, to: 2025-03-30}}
    attributes: {PK: "D#{d}#{at:month}", SK: "{at:time}", kind: R}
  S:
    fields: {user: {distinct: 100, distribution: zipf(1.0)}, day: {type: date, from: 2025-01-01, to: 2025-06-30}}
    attributes: {PK: "S#{user}", SK: "{day}"}
    count: 3000
patterns:
  - {name: sparse, rate: 100, query: {entity: O, index: ByState, where: {state: NEW}, limit: 10}}
  - {name: zipf, rate: 100, asked: zipf(1.5), update: {entity: O, set: {n: 3}}}
  - {name: child, rate: 100, query: {entity: R, where: {d: x, at: 2025-01}}, expect: {rows: 0}}
  - {name: day, rate: 1, query: {entity: R, index: ByDay, where: {at: {between: [2025-01-05, 2025-01-06]}}}}
  - {name: months, rate: 1, query: {entity: R, where: {d: x, at: {between: [2025-01-20, 2025-02-23]}}}, then: D, expect: {rows: 0}}
  - {name: parent, rate: 1, query: {entity: R, where: {d: x, at: 2025-01}, limit: 5}, then: D, expect: {rows: 0}}
  - {name: unique, rate: 1, query: {entity: S, where: {user: x}}, expect: {rows: 0}}
`
	figuresOf := func(most int) map[string]float64 {
		w, r := checkedIn(t, dataset.Options{MaxItems: most}, source)
		child, day := r.Patterns[2].Spread, r.Patterns[3].Spread
		all := map[string]float64{
			"units of a child": child.Mean, "rows of a child": child.P50.DeclaredRows(),
			"units of two months": r.Patterns[4].Spread.Mean, "rows of two months": r.Patterns[4].Spread.MeanRows,
			"units of a parent": r.Patterns[5].Spread.Mean, "worst units of a parent": r.Patterns[5].Spread.Worst.DeclaredUnits(),
			"most rows of a user": r.Patterns[6].Spread.Worst.DeclaredRows(),
			"units of two days":   day.Mean, "units of the busiest two days": day.Worst.DeclaredUnits(),
		}
		spaces, err := load.TableOf(w).Spaces(t.Context())
		require.NoError(t, err)
		for _, l := range spaces[0].Items {
			all["writes of the first"] = l.Writes
		}
		for _, s := range r.Tables {
			if s.ByReads != nil {
				all["most reads of "+s.Name()] = s.ByReads.Reads
			}
			if s.ByWrites != nil {
				all["most writes of "+s.Name()] = s.ByWrites.Writes
			}
		}
		return all
	}
	whole, sample := figuresOf(100_000), figuresOf(3000)
	require.Greater(t, len(whole), 7)
	for name, want := range whole {
		require.InEpsilon(t, want, sample[name], 0.1, name)
	}
}

// TestSampledFollowUps checks that a sample shows the follow-up reads of the hottest item: of an item that one request
// always leads to, of one that all rows of a value lead to, and of one that rows of most values lead to.
func TestSampledFollowUps(t *testing.T) {
	const source = `name: m
tables: {Tab: {partition: PK, sort: SK, indexes: {ByDay: {partition: state, sort: SK}}}}
fields: {cust: {distinct: 3000, distribution: zipf(1.2)}}
entities:
  Customer: {attributes: {PK: "C#{cust}", SK: A}, count: 3000}
  Order:
    fields: {day: {type: date, from: 2025-01-01, to: 2025-01-09}, status: {values: [NEW, PAID]}}
    attributes: {PK: "O#{order}", SK: "{day}#{order}", state: "{status}", by: "{cust}"}
    count: 6000
patterns:
  - {name: q, rate: 1000, query: {entity: Order, index: ByDay, where: {%s}}, then: Customer}
`
	for _, query := range []string{"status: NEW}, limit: 5", "status: NEW}", "status: NEW, day: 2025-01-05}"} {
		most := func(items int) float64 {
			m, err := modelfile.Parse("m.yaml", []byte(strings.Replace(source, "%s}", query, 1)))
			require.NoError(t, err)
			w, err := dataset.Build(t.Context(), m, dataset.Options{MaxItems: items})
			require.NoError(t, err)
			defer w.Close()
			stats, err := check.Stats(t.Context(), w)
			require.NoError(t, err)
			return stats[0].ByReads.Reads
		}
		require.InEpsilon(t, most(100_000), most(3000), 0.1, query)
	}
}
