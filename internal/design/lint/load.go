package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

const partitionGuide = "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"

// Units that one partition serves per second. Source:
// DG/bp-partition-key-design.html.
const (
	maxReads  = 3000
	maxWrites = 1000
)

var partitionSkew = lint{Rule{
	ID: "partition-skew", Title: "Partitions that hold too much of the table", Severity: model.Warning,
	Help: "Capacity is divided among partitions by the hash of the partition key. A key with few values, or with a value that most items share, puts much of the data, and usually most requests, into one partition: " +
		"a status, a country, a constant.",
	Example: []string{`GSI1: "STATUS#DONE": 90% of 2,000,000 items`},
	Cure:    "Add a component to the key that each query knows, STATUS#{status}#{day:date}, or a number from a hash of the id, STATUS#{status}#{shard:int(2)}, and query all shards in parallel.",
	Source:  partitionGuide,
}, func(l *linter) {
	for _, v := range l.views {
		l.skewed(v)
	}
}}

// A partition is a finding from manyItems rows or manyBytes bytes on, if it
// also has a share of largePart of the view.
const (
	manyItems = 100_000
	manyBytes = 1 << 30
	largePart = 0.1
)

func (l *linter) skewed(v *view) {
	if len(v.Rows) == 0 {
		return
	}
	grow := l.w.Growth(v.hash)
	var items, bytes float64 // of the largest partition
	var at world.Part
	var allItems, allBytes float64
	large := 0
	for _, p := range v.Parts {
		n, b := 0.0, 0.0
		for _, r := range v.In(p) {
			g := grow.Of(r.Item)
			n += g
			b += g * float64(r.Size())
		}
		if n >= manyItems || b >= manyBytes {
			large++
		}
		if n > items || n == items && b > bytes {
			items, bytes, at = n, b, p
		}
	}
	for _, r := range v.Rows {
		g := l.w.Represents(r.Item)
		allItems += g
		allBytes += g * float64(r.Size())
	}
	items, bytes = min(items, allItems), min(bytes, allBytes)
	if (items < manyItems || items < largePart*allItems) && (bytes < manyBytes || bytes < largePart*allBytes) {
		return
	}
	it := v.Rows[at.From].Item
	f := v.in(model.Finding{
		Pos: l.partitionPos(v, at),
		Message: fmt.Sprintf("at the declared scale, partition %s of %s holds %s items, %s of all, in %s%s",
			v.partitionOf(it), v.name(), text.Thousands(int(items)), text.Percent(items/allItems), text.Size(bytes), others(large-1, "large")),
		Keys: v.shown(it, v.Rows[at.To-1].Item),
	})
	if it.Entity != nil {
		f.Entity = it.Entity.Name
	}
	f.Advice = divide
	l.propose(f, l.shards(v, it, true)...)
}

// divide is the general advice for a partition that is too large or too hot.
const divide = "divide it by a component that each query knows, or by a shard number from a hash of the id"

// shards returns the proposals to divide the partition of an item: by day, and
// by a shard number.
func (l *linter) shards(v *view, it *world.Item, byDay bool) (all []proposal) {
	e := it.Entity
	if e == nil {
		return nil
	}
	name := v.hash[0].Name
	src := templateOf(e, name)
	if src == "" {
		return nil
	}
	add := func(field, typ, value, how, more string) {
		better := src + "#{" + field + ":" + typ + "}"
		p := proposal{text: fmt.Sprintf("%s: write %s: %q%s", how, name, better, more), or: true}
		for _, o := range l.entities { // all that share the partition
			if o.Table == v.t && templateOf(o, name) == src {
				p.edits = append(
					p.edits, writeTemplate(o.Name, name, better),
					alsoGiven(v.t.Name, v.indexName(), o.Name, field, value),
				)
			}
		}
		all = append(all, p)
	}
	t := e.Attribute(name)
	if name, _, _ := strings.Cut(timeField(e), ":"); name != "" && byDay && (t.Template == nil || !slices.Contains(t.Template.Components(), name)) {
		add(name, "date", it.Values.Get(name), "divide it by day if patterns know it", "")
	}
	if e.Field("shard") == nil {
		add(
			"shard", "int(2)", "7", "divide it by a shard number from a hash of the id",
			", and query the shards in parallel",
		)
	}
	return all
}

// templateOf returns the template of an entity's attribute as text, also that of
// a constant, or "".
func templateOf(e *model.Entity, name string) string {
	switch t := e.Attribute(name); {
	case t == nil || t.Kind != attr.String:
		return ""
	case t.Template != nil:
		return t.Template.String()
	default:
		return source([]keys.Part{{Literal: string(t.Const.Raw())}}, "", "")
	}
}

var hotPartition = lint{Rule{
	ID: "hot-partition", Title: "Partitions with more load than one partition serves", Severity: model.Error,
	Help: "One partition serves 3,000 read units and 1,000 write units per second, whatever the capacity of the table. Beyond that, requests are throttled. " +
		"The load comes from the declared rates, divided evenly over the items of each entity, so that a partition gets as much as it has items; a partition key with a time gets all of it in the current period. " +
		"A write also counts in each index that holds the item, and its rows in local indexes in the partition of the table. " +
		"Rates of patterns are divided in the same way, and count what the pattern reads in the partition, whatever a filter drops; a scan reads every partition.",
	Example: []string{`"METRICS": 2,500 write units per second`},
	Cure:    "Divide the partition by a shard number, METRICS#{shard:int(2)}, or by a component that each request knows. Cache data that everybody reads.",
	Source:  partitionGuide,
}, func(l *linter) {
	for _, v := range l.views {
		l.hot(v)
	}
}}

func (l *linter) hot(v *view) {
	rates, err := l.w.Rates(l.ctx, v.Space)
	if err != nil {
		return // the context is done, which Run reports
	}
	var reads, writes load
	for _, p := range v.Parts {
		r, w := rates.Of(p)
		reads.add(r, p, maxReads)
		writes.add(w, p, maxWrites)
	}
	l.tooHot(v, rates, &writes, "write units", maxWrites)
	for _, q := range l.queries {
		if q.v == v && q.p.Rate > 0 && q.failed == nil && (q.report == nil || q.report.Refused == nil) {
			if h := l.patternLoad(v, q, rates); h.units > reads.units {
				reads = h
			}
		}
	}
	l.tooHot(v, rates, &reads, "read units", maxReads)
}

// patternLoad returns the highest load of one pattern on a partition.
func (l *linter) patternLoad(v *view, q *query, rates *world.Rates) load {
	h := load{pattern: q.p}
	grow := l.w.Growth(v.hash)
	e := q.p.Entity
	if e == nil && len(q.entities) > 0 {
		e = q.entities[0]
	}
	own, known := q.slice()
	for _, p := range v.Parts {
		rate := q.p.Rate
		switch {
		case q.op == "Scan":
		case e != nil:
			share, among := rates.Share(p, e)
			if rate *= share; among > 0 {
				h.among = among
			}
		case !known || p != own:
			rate = 0 // the request names its partition itself
		}
		if rate > 0 {
			h.add(rate*q.units(p, e, grow), p, maxReads)
		}
	}
	if q.op == "Scan" {
		h.over = 1
	}
	return h
}

// units returns the read units that a request consumes in a partition.
func (q *query) units(p world.Part, e *model.Entity, grow world.Growth) float64 {
	rows := q.v.In(p)
	r := q.report
	switch {
	case q.op == "GetItem":
		rows = nil // the average of the entity's rows
		n, bytes := 0, 0
		for _, row := range q.v.In(p) {
			if row.Item.Entity == e {
				n++
				bytes += row.Size()
			}
		}
		return table.ReadUnits(bytes/max(n, 1), q.p.Consistent)
	case q.op == "Query" && r != nil && !q.depends():
		from, to := p.From, p.To
		if r.Low.Bytes != nil {
			from, _ = q.v.Find(p, r.Low.Bytes)
		}
		if r.High.Bytes != nil {
			to, _ = q.v.Find(p, r.High.Bytes)
		}
		rows = q.v.Rows[from:max(from, to)]
	case r != nil && q.op == "Query":
		if q.p.Consistent || r.Consistent {
			return r.Strong
		}
		return r.Eventual
	}
	limit := q.p.Limit
	if r != nil {
		limit = r.Limit
	}
	bytes := 0.0
	for i, row := range rows {
		if limit > 0 && i == limit {
			break
		}
		grown := grow.Of(row.Item)
		if limit > 0 {
			grown = 1
		}
		bytes += float64(row.Size()) * grown
	}
	return table.ReadUnits(int(bytes), q.p.Consistent || r != nil && r.Consistent)
}

// depends reports whether the range of a pattern is another in each partition: a
// field is in the partition key and in the sort key.
func (q *query) depends() bool {
	if q.p.Entity == nil {
		return false
	}
	sort := q.p.Entity.ComponentsOf(q.v.sort)
	for name := range q.p.Entity.ComponentsOf(q.v.hash) {
		if sort[name] {
			return true
		}
	}
	return false
}

// A load is the partition with the highest load by one measure.
type load struct {
	units   float64
	at      world.Part
	over    int // partitions beyond the limit
	pattern *model.Pattern
	among   float64 // number of partitions that its requests are spread over, if evenly
}

func (h *load) add(units float64, p world.Part, limit float64) {
	if units > limit {
		h.over++
	}
	// Ignore rounding in sums of shares.
	if units > h.units*(1+1e-9) {
		h.units, h.at = units, p
	}
}

func (l *linter) tooHot(v *view, rates *world.Rates, h *load, what string, limit float64) {
	if h.units < limit/2 {
		return
	}
	it := v.Rows[h.at.From].Item
	when, over := "", others(h.over-1, "over that limit")
	if rates.Periodic(it.Entity) {
		when, over = " in its period", ""
	}
	f := v.in(model.Finding{
		Pos: l.partitionPos(v, h.at),
		Message: fmt.Sprintf("at the declared rates, partition %s of %s gets %s %s per second%s, and one partition serves %s%s",
			v.partitionOf(it), v.name(), text.Figure(h.units), what, when, text.Thousands(int(limit)), over),
		Keys: v.shown(it), Advice: divide,
	})
	fixes := l.shards(v, it, false)
	if h.at.To-h.at.From > 1 {
		f.Keys = v.shown(it, v.Rows[h.at.To-1].Item)
	}
	if it.Entity != nil {
		f.Entity = it.Entity.Name
	}
	if h.among > 1 {
		f.Message += fmt.Sprintf("; the requests are spread over %s at most", text.Count(int(h.among), "partition"))
	}
	if h.pattern != nil {
		f.Pattern, f.Pos = h.pattern.Name, h.pattern.Pos
	}
	if h.units <= limit {
		f.Severity = model.Warning
	}
	if h.at.To-h.at.From == 1 {
		f.Advice, fixes = "keep copies of the item under several keys, or cache it", nil
	}
	l.propose(f, fixes...)
}
