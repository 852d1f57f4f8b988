package check_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/tests/proptest"
)

// TestPeriods compares ranges of times over partitions by year, month and day with a count of the items. It tries
// sort keys of all precisions, and bounds that are moments, minutes, hours, days, months and years.
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
	// bound returns a random time or period as text, with its first and last moments.
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
				continue // a short run tries one type with each period
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
			for i := range min(40, proptest.Cases(200)) {
				finest := 5
				if typ == "date" {
					finest = 2 // a sort key by day cannot tell finer bounds apart
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
						at = at.Truncate(unit) // as precisely as the sort key
					}
					if !at.Before(from) && !at.After(to) {
						n++
					}
				}
				want = append(want, n)
				fmt.Fprintf(&src, "  - {name: p%d, query: {entity: Event, where: %s}, expect: {rows: %d}}\n", i, where, n)
			}
			for i, pr := range checked(t, dataset.Options{}, src.String()).Patterns {
				if pr.Compile != nil {
					t.Errorf("%s, %s: %v: %s", bucket, typ, pr.Pattern.Where, pr.Compile.Msg)
				} else if pr.Total.Returned != want[i] {
					t.Errorf("%s, %s: %v: %d rows, want %d", bucket, typ, pr.Pattern.Where, pr.Total.Returned, want[i])
				}
			}
		}
	}
}
