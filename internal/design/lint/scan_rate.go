package lint

import (
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

var scanRate = rule.Rule{
	ID: "scan-rate", Title: "A scan that runs often", Severity: model.Warning,
	Help: "A scan reads and charges all items of a table or an index, whatever a filter drops, so each request costs " +
		"more as the table grows. A nightly export may scan; what answers users should not. The rule applies to " +
		"scans with a rate of one per second and more that read more than some hundred units per second, or whose " +
		"table has no declared counts.",
	Example: []string{`scan of 1,000,000 items, 20 times per second`},
	Cure:    "Query an index whose partition key has what the filter compares, or keep the result and read it by key.",
	Source:  guide + "bp-query-scan.html",

	Query: checkScanRate,
}

// Scans are a finding from so many requests and read units per second on.
const (
	oftenScanned = 1
	scanUnits    = 100
)

func checkScanRate(p *rule.Pass, q *rule.Query) {
	if q.Operation != "Scan" || q.View == nil || q.Failed != nil || q.Rate < oftenScanned {
		return
	}
	items, bytes, counted := scanVolume(p, q.View)
	if in, ok := q.Compiled.(*wire.ScanInput); ok && in.Limit != nil && items > float64(*in.Limit) {
		items, bytes = float64(*in.Limit), bytes*float64(*in.Limit)/items
	}
	units := table.ReadUnits(int(bytes), q.Consistent)
	if counted && units*q.Rate < scanUnits {
		return
	}
	f := q.Finding("%q scans %s %s per second: ", q.Name, q.View, text.Amount(text.Figure(q.Rate), "time"))
	if counted {
		f.Say("each scan reads %s with %s, which makes %s per second", text.Count(int(items), "item"),
			text.Amount(text.Figure(units), "read unit"), text.Amount(text.Figure(units*q.Rate), "unit"))
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

// scanVolume returns the items and bytes of a view at the declared scale, and
// whether all its entities have counts.
func scanVolume(p *rule.Pass, v *rule.View) (items, bytes float64, counted bool) {
	seen := map[*model.Entity]bool{}
	counted = true
	add := func(r *world.Row) {
		n := p.World.Represents(r.Item)
		items += n
		bytes += n * float64(r.Size())
		seen[r.Item.Entity] = true
	}
	for i := range v.Rows {
		add(&v.Rows[i])
	}
	for e := range seen {
		counted = counted && e != nil && e.Count > 0
	}
	return items, bytes, counted && len(seen) > 0
}
