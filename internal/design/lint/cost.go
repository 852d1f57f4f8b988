package lint

import (
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
)

var cost = Rule{
	ID: "cost", Title: "Requests that read much", Severity: model.Warning,
	Help: "A scan reads and charges all items, whatever a filter drops. A query without a limit reads its " +
		"whole range, in pages of 1 MB, one after the other, also if it only counts. The rule looks at scans " +
		"that read 100 units a second, at those that run once a second over a table without declared counts, " +
		"and at queries that read 2 MB in one partition at the declared scale.",

	Query: func(p *Pass, q *Query) {
		switch {
		case q.View == nil || q.Failed != nil:
		case q.Operation == "Scan":
			checkScan(p, q)
		case q.Operation == "Query" && q.Ran() && q.Expect.Error == "":
			checkLarge(p, q)
		}
	},
}

const (
	largeBytes   = 2 << 20 // bytes; a query without a limit that reads this much is reported
	scanUnits    = 100     // read units per second
	oftenScanned = 1       // scans per second; reported if the model does not declare the number of items
)

// checkLarge reports a query without a limit that reads largeBytes or more.
func checkLarge(p *Pass, q *Query) {
	all, large := q.Reads().Slices, 0
	for i := range all {
		if all[i].DeclaredBytes() >= largeBytes {
			large++
		}
	}
	if q.Report.Limit > 0 || large == 0 {
		return
	}
	worst := all[0] // the largest comes first
	bytes := worst.DeclaredBytes()
	units := q.Together().MeanUnits
	if s := q.Reads().Spread; s != nil { // a reading rounds its units up page by page, MeanUnits does not
		units = s.Worst.DeclaredUnits()
	}
	it := q.View.Rows[worst.From].Item
	f := q.Finding("%q has no limit, and in partition %s it reads %s rows with %s at the declared scale, "+
		"for %s read units%s", q.Name, q.View.PartitionKey(it), text.Thousands(int(float64(worst.Rows)*worst.Growth)),
		text.Size(bytes), text.Figure(units), othersToo(large-1, "so large"))
	f.Keys = q.View.Shown(it, q.View.Rows[worst.To-1].Item)
	if pages := q.Expect.Pages; pages != nil && *pages > 1 ||
		q.Expect.Units != nil && *q.Expect.Units >= table.ReadUnits(largeBytes, q.Consistent) {
		f.Severity = model.Note
	}
	f.Advice = "add a limit and read page by page, or narrow the range"
	p.Report(f)
}

// checkScan reports a scan that costs scanUnits or more per second. If the model does not declare the number of
// items, it also reports a scan that runs oftenScanned times per second or more.
func checkScan(p *Pass, q *Query) {
	counted := len(q.View.Rows) > 0
	for _, e := range q.View.Entities() {
		counted = counted && e.Count > 0
	}
	r := q.Together()
	if r.MeanUnits*q.Rate < scanUnits && (counted || q.Rate < oftenScanned) {
		return
	}
	f := q.Finding("%q scans %s %s per second: ", q.Name, q.View, text.Amount(text.Figure(q.Rate), "time"))
	if counted {
		f.Say("each scan reads %s for %s, which makes %s per second", text.Count(int(r.MeanRows), "item"),
			text.Amount(text.Figure(r.MeanUnits), "read unit"), text.Amount(text.Figure(r.MeanUnits*q.Rate), "unit"))
	} else {
		f.Say("each scan reads all items, however many there will be")
	}
	for _, r := range q.View.Rows[:min(2, len(q.View.Rows))] {
		f.Keys = append(f.Keys, q.View.Shown(r.Item)...)
	}
	f.Advice = "query an index whose partition key has what the pattern looks for, " +
		"or keep the result and read it by key"
	p.Report(f)
}

var fanOut = Rule{
	ID: "fan-out", Title: "Many requests for few rows", Severity: model.Note,
	Help: "A pattern whose partition key has a shard or a period sends a request for each of them, and each " +
		"costs at least half a read unit, also where it finds nothing: a year by days is 365 requests. The " +
		"rule applies to ten requests and more that return fewer rows than a fifth of their number, on " +
		"average at the declared scale. It is a warning if that costs 100 read units a second.",

	Query: func(p *Pass, q *Query) {
		n := len(q.Parts)
		if n < fewRequests || !q.Ran() {
			return
		}
		r := q.Together()
		if r.Requests == 0 || r.MeanRows*rowsForRequests >= float64(n) {
			return
		}
		f := q.Finding("%q sends %s, for %s, to return %s on average", q.Name, text.Count(n, "request"),
			text.Amount(text.Figure(r.MeanUnits), "read unit"), text.Amount(text.Figure(r.MeanRows), "row"))
		if q.Rate > 0 {
			f.Say("; at %s a second that is %s a second", text.Figure(q.Rate),
				text.Amount(text.Figure(q.Rate*r.MeanUnits), "read unit"))
		}
		if q.Rate*r.MeanUnits >= scanUnits {
			f.Severity = model.Warning
		}
		if part, ok := q.Partition(); ok {
			f.Keys = q.View.Shown(q.View.Rows[part.From].Item)
		}
		f.Advice = "use fewer shards or a longer period in the key, or an index that has the rows together"
		p.Report(f)
	},
}

// The rule reports a pattern that sends at least fewRequests requests, if they are more than rowsForRequests times
// the average number of rows that they return.
const (
	fewRequests     = 10
	rowsForRequests = 5
)
