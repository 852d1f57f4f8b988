package check_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

const loads = `name: loads
tables:
  Orders: {partition: PK, sort: SK}
  People: {partition: id}
fields: {shard: {values: ["0", "1"]}, all: {values: [x]}, person: {distinct: 20}}
entities:
  Order:
    table: Orders
    fields: {note: {size: 300}}
    attributes: {PK: "ALL#{all}", SK: "{order:ulid}", note: "{note}", person: "{person}"}
    count: 20000
  Event:
    table: Orders
    fields: {note: {size: 300}}
    attributes: {PK: "SHARD#{shard}", SK: "{event:ulid}", note: "{note}"}
    count: 20000
  Person:
    table: People
    attributes: {id: "{person}", name: "{name}"}
    count: 20
patterns:
  - {name: one partition, query: {entity: Order, where: {all: x}}, rate: 1}
  - {name: shards, query: {entity: Event, where: {shard: {in: all}}}, rate: 1, expect: {units: 400}}
  - {name: scan, scan: {table: Orders}, rate: 1, expect: {pages: 3}}
  - {name: own scan, scan: {table: Orders}, rate: 1, expect: {pages: 3, budget: sample}}
  - {name: page of a scan, scan: {table: Orders, limit: 5}, rate: 1}
`

// TestDeclaredLoad holds for patterns with a single partition that a sample gives the same figures at the declared
// scale as all items do: units, the load of tables, and budgets.
func TestDeclaredLoad(t *testing.T) {
	proptest.NeedLong(t)
	whole, sample := checked(t, dataset.Options{}, loads), checked(t, dataset.Options{MaxItems: 4000}, loads)
	require.InDelta(t, 0.1, sample.Scale, 0.01)
	for i, want := range whole.Patterns {
		got := sample.Patterns[i]
		require.InEpsilon(t, want.MeanUnits(), got.MeanUnits(), 0.05, want.Pattern.Name)
		require.InEpsilon(t, want.Total.Pages, got.Own().DeclaredPages(), 0.1, want.Pattern.Name)
		require.InEpsilon(t, want.Total.Returned, got.Own().DeclaredRows(), 0.05, want.Pattern.Name)
	}
	require.InEpsilon(t, whole.Tables[0].Reads, sample.Tables[0].Reads, 0.05)

	require.Len(t, sample.Patterns[1].Failures, 1)
	require.Contains(t, sample.Patterns[1].Failures[0].Message, "at the declared scale, for 1,990 rows")
	require.Len(t, sample.Patterns[2].Failures, 1)
	require.Equal(t, "expected at most 3 pages, got 2, about 14 at the declared scale", sample.Patterns[2].Failures[0].Message)
	require.Empty(t, sample.Patterns[3].Failures)
}

// TestThenLoad holds that the items that a pattern gets for its rows load their own table. Their number is the
// average over all partitions.
func TestThenLoad(t *testing.T) {
	const model = `name: then
tables:
  Teams: {partition: PK, sort: SK}
  People: {partition: id}
fields: {team: {distinct: 1}, person: {distinct: 40}}
entities:
  Member:
    table: Teams
    attributes: {PK: "TEAM#{team}", SK: "{person}"}
    samples: [{team: small, person: p1}]
    count: 40
  Person:
    table: People
    attributes: {id: "{person}", name: "{name}"}
    samples: [{person: p1, name: Ann}]
    count: 40
patterns:
  - {name: team, query: {entity: Member, where: {team: small}}, then: Person, rate: 10, asked: %s}
`
	// One team has 40 members and the other has one.
	for asked, mean := range map[string]float64{"equally": (40 + 1.0) / 2, "by_rows": (40*40 + 1.0) / 41} {
		r := checked(t, dataset.Options{}, fmt.Sprintf(model, asked))
		teams, people := r.Tables[0], r.Tables[1]
		require.InDelta(t, 5, teams.Reads, 1e-9, "ten times half a unit")
		require.InDelta(t, 10*0.5*mean, people.Reads, 1e-6)
		require.InDelta(t, 0.5+0.5*mean, r.Patterns[0].MeanUnits(), 1e-6)
		require.InDelta(t, 0.5+0.5*40, r.Patterns[0].Spread.Worst.DeclaredUnits(), 1e-9)
	}
}

// TestTransactionLoad holds that a transaction costs twice the units but writes each item once, and that a condition
// check writes nothing.
func TestTransactionLoad(t *testing.T) {
	const model = `name: transaction
tables: {Tab: {partition: PK, indexes: {ByKind: {partition: kind}}}}
entities:
  Order: {attributes: {PK: "O#{order}", kind: "{kind}"}, samples: [{order: "1", kind: k}]}
  Person: {attributes: {PK: "P#{person}"}, samples: [{person: ann}]}
patterns:
  - {name: order, transact: [{put: Order}, {check: {entity: Person, if: attribute_exists(PK)}}], rate: 7}
`
	r := checked(t, dataset.Options{}, model)
	require.InDelta(t, 28, r.Tables[0].Writes, 1e-9)
	require.InDelta(t, 7, r.Tables[0].Rows, 1e-9)
	require.InDelta(t, 7, r.Tables[1].Writes, 1e-9)
	require.InDelta(t, 7, r.Tables[1].Rows, 1e-9)
}

// TestHours holds that an hour in a condition stands for all of it, also in the requests for other values, and that a
// sample says the same of a time that the partition key has too.
func TestHours(t *testing.T) {
	const model = `name: hours
tables: {Events: {partition: PK, sort: SK}}
entities:
  Event:
    count: 12000
    fields: {at: {type: time, from: 2025-01-01, to: 2025-01-10}}
    attributes: {PK: "EV#{at:date}", SK: "{at:time}#{id}"}
    samples: [{at: "2025-01-05T10:00:00Z", id: x}]
patterns:
  - {name: hour, query: {entity: Event, where: {at: 2025-01-05T10}}}
`
	w, whole := checkedIn(t, dataset.Options{}, model)
	sample := checked(t, dataset.Options{MaxItems: 4000}, model)
	hours := map[string]int{}
	for i := range w.Items {
		hours[w.Items[i].Values.Get("at")[:len("2025-01-05T10")]]++
	}
	counts := slices.Sorted(maps.Values(hours))
	spread, sampled := whole.Patterns[0].Spread, sample.Patterns[0].Spread
	require.Len(t, hours, spread.Values)
	require.Equal(t, counts[len(counts)-1], spread.Worst.Rows)
	require.InDelta(t, counts[len(counts)/2], spread.P50.Rows, 1)
	require.InEpsilon(t, spread.Worst.Rows, sampled.Worst.DeclaredRows(), 0.1)
	require.InEpsilon(t, spread.P50.Rows, sampled.P50.DeclaredRows(), 0.1)
	require.InEpsilon(t, whole.Patterns[0].MeanUnits(), sample.Patterns[0].MeanUnits(), 0.05)
}
