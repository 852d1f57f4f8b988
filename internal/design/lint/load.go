package lint

import (
	"fmt"
	"math"
	"slices"

	"github.com/sortkey/sortkey/internal/design"
	"github.com/sortkey/sortkey/internal/table"
)

const partitionGuide = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"

// What one partition serves in a second. Source: DG/bp-partition-key-design.html.
const (
	maxReads  = 3000
	maxWrites = 1000
)

var partitionSkew = lint{Rule{
	ID: "partition-skew", Title: "Partitions that hold too much of the table", Severity: design.Warning,
	Help: "Capacity is divided among partitions by the hash of the partition key. A key with few values, or one that most items share, puts a large part of the data, and mostly of the requests, into one place: " +
		"a status, a country, a constant.",
	Example: []string{`GSI1: "STATUS#DONE": 90% of 2,000,000 items`},
	Cure:    "Add to the key what divides the items and what each query knows, STATUS#{status}#{day:date}; or a number from a hash of the id, STATUS#{status}#{shard:int(2)}, and ask all shards at once.",
	Source:  partitionGuide,
}, func(l *linter) {
	for _, v := range l.views {
		l.skewed(v)
	}
}}

// From so many rows, or bytes, in one partition on, and such a share of all,
// a partition is worth a finding.
const (
	manyItems = 100_000
	manyBytes = 1 << 30
	largePart = 0.1
)

func (l *linter) skewed(v *view) {
	if len(v.rows) == 0 {
		return
	}
	grow := l.w.Growth(v.hash)
	var items, bytes float64 // of the largest partition
	var at part
	var allItems, allBytes float64
	large := 0
	for _, p := range v.parts {
		n, b := 0.0, 0.0
		for _, r := range v.rows[p.from:p.to] {
			g := grow.Of(r.it)
			n += g
			b += g * float64(r.size)
		}
		if n >= manyItems || b >= manyBytes {
			large++
		}
		if n > items || n == items && b > bytes {
			items, bytes, at = n, b, p
		}
	}
	for _, r := range v.rows {
		g := l.w.Represents(r.it)
		allItems += g
		allBytes += g * float64(r.size)
	}
	items, bytes = min(items, allItems), min(bytes, allBytes)
	if (items < manyItems || items < largePart*allItems) && (bytes < manyBytes || bytes < largePart*allBytes) {
		return
	}
	it := v.rows[at.from].it
	f := v.in(design.Finding{
		Pos: l.partitionPos(v, at),
		Message: fmt.Sprintf("at the declared scale the partition %s of %s holds %s items, %s of them all, in %s%s",
			v.partitionOf(it), v.name(), grouped(int(items)), percent(items/allItems), size(bytes), others(large-1, "large")),
		Keys: v.shown(it, v.rows[at.to-1].it),
	})
	if it.Entity != nil {
		f.Entity = it.Entity.Name
	}
	f.Advice = l.divide(v, it.Entity, true)
	l.add(f)
}

// divide says how a partition becomes several.
func (l *linter) divide(v *view, e *design.Entity, byDay bool) string {
	if e != nil {
		if t := e.Attribute(v.hash[0].Name); t != nil && t.Template != nil {
			day := ""
			if name, _, _ := cutColon(timeField(e)); name != "" && byDay && !slices.Contains(t.Template.Components(), name) {
				day = fmt.Sprintf("%q, when patterns know the day, or ", t.Template.String()+"#{"+name+":date}")
			}
			return fmt.Sprintf("divide it: write %s: %s%q with a shard from a hash of the id, and ask the shards side by side", t.Name, day, t.Template.String()+"#{shard:int(2)}")
		}
	}
	return "divide it by a part that each query knows, or by a shard number from a hash of the id"
}

func cutColon(s string) (before, after string, found bool) {
	for i := range len(s) {
		if s[i] == ':' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

var hotPartition = lint{Rule{
	ID: "hot-partition", Title: "Partitions hotter than a partition can be", Severity: design.Error,
	Help: "One partition serves 3,000 read units and 1,000 write units a second, whatever the capacity of the table. Beyond that requests are throttled. " +
		"The load is that of the declared rates, divided evenly over the items of each entity, and a write counts in each index that holds the item; rates of patterns are divided evenly over the values that their partition key can have.",
	Example: []string{`"METRICS": 2,500 write units a second`},
	Cure:    "Divide the partition by a shard number, METRICS#{shard:int(2)}, or by what each request knows; cache what is read by all.",
	Source:  partitionGuide,
}, func(l *linter) {
	for _, v := range l.views {
		l.hot(v)
	}
}}

func (l *linter) hot(v *view) {
	grow := l.w.Growth(v.hash)
	var reads, writes load
	for _, p := range v.parts {
		r, w := 0.0, 0.0
		for _, row := range v.rows[p.from:p.to] {
			e := row.it.Entity
			if e == nil || e.Reads == 0 && e.Writes == 0 {
				continue
			}
			s := l.w.Share(row.it, grow)
			w += e.Writes * s * table.WriteUnits(row.size)
			if v.x == nil {
				r += e.Reads * s * table.ReadUnits(row.size, false)
			}
		}
		reads.take(r, p, maxReads)
		writes.take(w, p, maxWrites)
	}
	l.tooHot(v, &writes, "write units", maxWrites)
	for _, q := range l.queries {
		if q.v != v || q.report == nil || q.report.Refused != nil || q.p.Rate == 0 || q.op != "Query" {
			continue
		}
		units := q.report.Eventual
		if q.p.Consistent || q.report.Consistent {
			units = q.report.Strong
		}
		n := l.spreads(v, q)
		if p, ok := q.slice(); ok && units*q.p.Rate/n > reads.units {
			reads = load{units: units * q.p.Rate / n, at: p, over: 1, pattern: q.p, among: n}
		}
	}
	l.tooHot(v, &reads, "read units", maxReads)
}

// A load is the hottest partition by one measure.
type load struct {
	units   float64
	at      part
	over    int // partitions beyond the limit
	pattern *design.Pattern
	among   float64 // partitions that its requests are spread over
}

func (h *load) take(units float64, p part, limit float64) {
	if units > limit {
		h.over++
	}
	// Sums of shares differ in their last digits.
	if units > h.units*(1+1e-9) {
		h.units, h.at = units, p
	}
}

// spreads is how many partitions the requests of a query are spread over, as
// evenly as can be: as many as its partition key has values.
func (l *linter) spreads(v *view, q *query) float64 {
	e := q.p.Entity
	if e == nil && len(q.entities) > 0 {
		e = q.entities[0]
	}
	if e == nil {
		return math.Inf(1)
	}
	_, n := l.w.Values(e, v.hash)
	return math.Max(n, 1)
}

func (l *linter) tooHot(v *view, h *load, what string, limit float64) {
	if h.units < limit/2 {
		return
	}
	it := v.rows[h.at.from].it
	f := v.in(design.Finding{
		Pos: l.partitionPos(v, h.at),
		Message: fmt.Sprintf("at the declared rates the partition %s of %s gets %s %s a second, and one partition serves %s%s",
			v.partitionOf(it), v.name(), rate(h.units), what, grouped(int(limit)), others(h.over-1, "hotter than that")),
		Keys: v.shown(it), Advice: l.divide(v, it.Entity, false),
	})
	if h.at.to-h.at.from > 1 {
		f.Keys = v.shown(it, v.rows[h.at.to-1].it)
	}
	if it.Entity != nil {
		f.Entity = it.Entity.Name
	}
	if h.among > 1 {
		f.Message += fmt.Sprintf("; the requests are spread over %s at most", plural(int(h.among), "partition"))
	}
	if h.pattern != nil {
		f.Pattern, f.Pos = h.pattern.Name, h.pattern.Pos
	}
	if h.units <= limit {
		f.Severity = design.Warning
	}
	if h.at.to-h.at.from == 1 {
		f.Advice = "keep copies of the item under several keys, or in a cache"
	}
	l.add(f)
}
