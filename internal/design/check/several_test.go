package check_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// TestPeriods compares ranges of times over partitions by year, month and day with a count of the items,
// for sort keys of all precisions and bounds that are moments, minutes, hours, days, months and years.
func TestPeriods(t *testing.T) {
	proptest.SkipShort(t)
	rng := rand.New(rand.NewPCG(1, 2))
	begin := time.Date(2023, 12, 30, 0, 0, 0, 0, time.UTC) // before a leap year
	moment := func() time.Time {
		at := begin.Add(time.Duration(rng.Int64N(int64(430 * 24 * time.Hour)))).Truncate(time.Millisecond)
		if rng.IntN(3) == 0 { // near the border of a month
			at = time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(rng.IntN(5)-2) * time.Millisecond)
		}
		return at
	}
	var times []time.Time
	for range 120 {
		times = append(times, moment())
	}
	// bound returns a text of a random precision, and the first and the last moment that it stands for.
	bound := func(finest int) (text string, first, last time.Time) {
		at := moment()
		layouts := []string{"2006", "2006-01", time.DateOnly, "2006-01-02T15", "2006-01-02T15:04", time.RFC3339}
		layout := layouts[1+rng.IntN(min(finest, len(layouts)-1))]
		first, err := time.Parse(layout, at.Format(layout))
		require.NoError(t, err)
		switch layout {
		case "2006-01":
			last = first.AddDate(0, 1, 0)
		case time.DateOnly:
			last = first.AddDate(0, 0, 1)
		case "2006-01-02T15":
			last = first.Add(time.Hour)
		case "2006-01-02T15:04":
			last = first.Add(time.Minute)
		default:
			last = first.Add(time.Nanosecond)
		}
		return first.Format(layout), first, last.Add(-time.Nanosecond)
	}

	for i, bucket := range []string{"year", "month", "date"} {
		for j, typ := range []string{"date", "millis", "time", "epochms", "millis:desc"} {
			if !proptest.Long() && (i != j%3 || j > 2) {
				continue // a short run takes each period with one type
			}

			var src strings.Builder
			fmt.Fprintf(&src, "name: m\ntables: {Tab: {partition: PK, sort: SK}}\nentities:\n  Event:\n")
			fmt.Fprintf(&src, "    attributes: {PK: \"E#{at:%s}\", SK: \"{at:%s}#{id}\"}\n    fields: {at: {type: nanos}}\n    samples:\n", bucket, typ)
			unit := map[string]time.Duration{"date": 24 * time.Hour, "time": time.Second}[typ]
			for i, at := range times {
				fmt.Fprintf(&src, "      - {at: %q, id: i%d}\n", at.Format(time.RFC3339Nano), i)
			}
			src.WriteString("patterns:\n")
			var want []int
			for i := range 40 {
				finest := 5
				if typ == "date" {
					finest = 2 // finer bounds cannot be told apart
				}
				text, from, to := bound(finest)
				where := fmt.Sprintf("{at: %q}", text)
				if rng.IntN(2) == 0 || strings.Contains(text, "Z") {
					high, high1, high2 := bound(finest)
					if high1.Before(from) {
						text, high, from, high2 = high, text, high1, to
					}
					where, to = fmt.Sprintf("{at: {between: [%q, %q]}}", text, high), high2
				}
				n := 0
				for _, at := range times {
					if unit > 0 {
						at = at.Truncate(unit) // what the sort key has of it
					}
					if !at.Before(from) && !at.After(to) {
						n++
					}
				}
				want = append(want, n)
				fmt.Fprintf(&src, "  - {name: p%d, query: {entity: Event, where: %s}, expect: {rows: %d}}\n", i, where, n)
			}
			m, err := modelfile.Parse("m.yaml", []byte(src.String()))
			require.NoError(t, err)
			w, err := dataset.Build(t.Context(), m, dataset.Options{})
			require.NoError(t, err)
			r, err := check.Run(t.Context(), w, check.Options{})
			require.NoError(t, err)
			require.NoError(t, w.Close())
			for i, pr := range r.Patterns {
				if pr.Compile != nil {
					t.Errorf("%s, %s: %v: %s", bucket, typ, pr.Pattern.Where, pr.Compile.Msg)
				} else if pr.Total.Returned != want[i] {
					t.Errorf("%s, %s: %v: %d rows, want %d", bucket, typ, pr.Pattern.Where, pr.Total.Returned, want[i])
				}
			}
		}
	}
}

// TestWindows compares ranges of times over several periods of the partition key with a count of the items: those
// of each tenant in each range that lies in as many periods, at the same place.
func TestWindows(t *testing.T) {
	proptest.SkipShort(t)
	date := func(year int, month time.Month, day, hour int) time.Time {
		return time.Date(year, month, day, hour, 0, 0, 0, time.UTC)
	}
	for _, tt := range []struct {
		bucket, rest, between string
		ranges                int // in a year
		at                    func(n int) (from, until time.Time)
	}{
		{"month", "{at:time}#", "2025-01-15, 2025-03-20", 10, func(n int) (from, until time.Time) {
			return date(2025, time.Month(n+1), 15, 0), date(2025, time.Month(n+3), 21, 0)
		}},
		{"month", "{at:time}#", "2025-03-01, 2025-03-10", 12, func(n int) (from, until time.Time) {
			return date(2025, time.Month(n+1), 1, 0), date(2025, time.Month(n+1), 11, 0)
		}},
		{"month", "", "2025-05, 2025-06", 11, func(n int) (from, until time.Time) {
			return date(2025, time.Month(n+1), 1, 0), date(2025, time.Month(n+3), 1, 0)
		}},
		{"date", "{kind}#{at:time}#", "2025-03-05T12, 2025-03-09T05", 361, func(n int) (from, until time.Time) {
			return date(2025, 1, n+1, 12), date(2025, 1, n+5, 6)
		}},
	} {
		kind := ""
		if strings.Contains(tt.rest, "kind") {
			kind = "kind: b, "
		}
		m, err := modelfile.Parse("m.yaml", fmt.Appendf(nil, `name: m
tables: {Tab: {partition: PK, sort: SK}}
fields: {tenant: {distinct: 5, distribution: zipf(1)}, kind: {distinct: 2}, at: {type: time, from: 2025-01-01, to: 2025-12-31}}
entities:
  Event: {count: 8000, attributes: {PK: "T#{tenant}#{at:%s}", SK: "%s{id}", k: "{kind}"}, samples: [{tenant: x, at: 2025-07-01T00:00:00Z, kind: b, id: a}]}
patterns:
  - {name: p, query: {entity: Event, where: {tenant: x, %sat: {between: [%s]}}}}
`, tt.bucket, tt.rest, kind, tt.between))
		require.NoError(t, err)
		w, err := dataset.Build(t.Context(), m, dataset.Options{})
		require.NoError(t, err)
		r, err := check.Run(t.Context(), w, check.Options{})
		require.NoError(t, err)
		require.NoError(t, w.Close())

		times, ids := make([]time.Time, len(w.Items)), make([]string, len(w.Items))
		for i, it := range w.Items {
			times[i], err = time.Parse(time.RFC3339, it.Values.Get("at"))
			require.NoError(t, err)
			if ids[i] = it.Values.Get("tenant"); kind != "" {
				ids[i] += it.Values.Get("kind")
			}
		}

		counts := map[string]int{}
		for n := range tt.ranges {
			from, until := tt.at(n)
			for i, at := range times {
				if !at.Before(from) && at.Before(until) {
					counts[fmt.Sprintf("%s %d", ids[i], n)]++
				}
			}
		}
		slices.Sort(ids)
		values := len(slices.Compact(ids)) * tt.ranges // also those without rows
		sum, most := 0, 0
		for _, n := range counts {
			sum, most = sum+n, max(most, n)
		}
		s := r.Patterns[0].Spread
		require.NotNil(t, s, "%s", tt.between)
		require.Equal(t, values, s.Values, "%s", tt.between)
		require.InEpsilon(t, most, s.Worst.Rows, 0.1, "%s", tt.between) // by cost, which is rounded up for each request
		require.InDelta(t, float64(sum)/float64(values), s.MeanRows, 1e-6, "%s", tt.between)
	}
}
