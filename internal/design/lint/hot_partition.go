package lint

import (
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
)

var hotPartition = rule.Rule{
	ID: "hot-partition", Title: "Partitions with more load than one partition serves", Severity: model.Error,
	Help: "One partition serves 3,000 read units and 1,000 write units per second, whatever the capacity of the " +
		"table. Beyond that, requests are throttled. The load comes from the declared rates, divided evenly over " +
		"the items of each entity, so that a partition gets as much as it has items; a partition key with a time " +
		"gets all of it in the current period. A write also counts in each index that holds the item, and its rows " +
		"in local indexes in the partition of the table. The rate of a pattern is divided among the values that it " +
		"asks for, as in the cost of a month: equally, or with asked: by_rows as often as each has rows. It counts " +
		"what the pattern reads, whatever a filter drops: a range of time as long as the pattern's own, where the " +
		"partition has most. A pattern of several requests sends each of them, and a scan reads every partition.",
	Example: []string{`"METRICS": 2,500 write units per second`},
	Cure: "Divide the partition by a shard number, METRICS#{shard:int(2)}, or by a component that each request " +
		"knows. Cache data that everybody reads.",
	Source: guide + "bp-partition-key-design.html",

	View: checkHotPartition,
}

// Units that one partition serves per second. Source:
// DG/bp-partition-key-design.html.
const (
	maxReads  = 3000
	maxWrites = 1000
)

// checkHotPartition reports the partition of a view with the most writes, and
// that with the most reads, of all patterns together or of one.
func checkHotPartition(p *rule.Pass, v *rule.View) {
	rates, err := v.Rates()
	if err != nil {
		return // the context is done, which Run reports
	}
	reads := partLoad{unit: "read unit", limit: maxReads}
	writes := partLoad{unit: "write unit", limit: maxWrites}
	for _, part := range v.Parts {
		r, w := rates.Of(part)
		reads.add(r, part)
		writes.add(w, part)
	}
	for _, q := range p.Queries {
		if q.View == v && q.Rate > 0 && q.Answered() {
			if one := patternLoad(p, q, rates); one.units > reads.units {
				reads = one
			}
		}
	}
	for _, l := range []partLoad{writes, reads} {
		if l.units >= l.limit/2 {
			reportLoad(p, v, rates, l)
		}
	}
}

// A partLoad is the partition with the highest load by one measure.
type partLoad struct {
	unit  string
	limit float64 // of one partition
	units float64
	at    world.Part
	over  int         // partitions beyond the limit
	query *rule.Query // nil for the load of all requests
	among float64     // number of partitions that its requests are spread over, if evenly
}

func (l *partLoad) add(units float64, part world.Part) {
	if units > l.limit {
		l.over++
	}
	// Ignore rounding in sums of shares.
	if units > l.units*(1+1e-9) {
		l.units, l.at = units, part
	}
}

// patternLoad returns the highest load of one pattern on a partition.
func patternLoad(p *rule.Pass, q *rule.Query, rates *world.Rates) partLoad {
	l := partLoad{unit: "read unit", limit: maxReads, query: q}
	e := q.Entity
	if e == nil && len(q.Entities) > 0 {
		e = q.Entities[0]
	}

	loads := q.Loads()
	groups := make([]map[string]float64, len(loads)) // shares of partitions that differ in their time alone
	for i, of := range loads {
		groups[i] = map[string]float64{}
		for part, load := range of {
			groups[i][groupOf(rates, part, e)] += load.Share
		}
	}

	own, known := q.Partition()
	units := unitsOf(p, q, e)
	for _, part := range q.View.Parts {
		rate := q.Rate
		switch {
		case q.Operation == "Scan":
		case e != nil:
			share, among := rates.Share(part, e)
			if among > 0 {
				l.among = among
			} else if len(loads) > 0 {
				l.add(rate*loadIn(part, e, loads, groups, rates), part)
				continue
			}
			rate *= share
		case !known || part != own:
			rate = 0 // the request names its partition itself
		}
		if rate > 0 {
			l.add(rate*units(part), part)
		}
	}

	if q.Operation == "Scan" {
		l.over = 1
	}
	return l
}

// groupOf names the group of partitions of which the current one gets all requests.
func groupOf(rates *world.Rates, part world.Part, e *model.Entity) string {
	if !rates.Periodic(e) {
		return ""
	}
	return rates.Group(part, e)
}

// loadIn returns the read units in a partition for each request of a pattern. The parts of a pattern read it
// together, as the shards of which it reads all, but those of a range over several periods come to it in turn.
func loadIn(
	part world.Part, e *model.Entity, loads []map[world.Part]load.Load, groups []map[string]float64,
	rates *world.Rates,
) (units float64) {
	periodic := rates.Periodic(e)
	for i, of := range loads {
		load, ok := of[part]
		switch {
		case !ok:
		case periodic:
			units = max(units, groups[i][groupOf(rates, part, e)]*load.Units)
		default:
			units += load.Share * load.Units
		}
	}
	return units
}

// unitsOf returns a function that returns the read units that a request consumes in a partition.
func unitsOf(p *rule.Pass, q *rule.Query, e *model.Entity) func(world.Part) float64 {
	v, r := q.View, q.Report
	consistent := q.Consistent || r != nil && r.Consistent
	switch {
	case q.Operation == "GetItem": // the average of the entity's rows
		return func(part world.Part) float64 {
			n, bytes := 0, 0
			for _, row := range v.In(part) {
				if row.Item.Entity == e {
					n++
					bytes += row.Size()
				}
			}
			return table.ReadUnits(bytes/max(n, 1), consistent)
		}
	case q.Operation == "Query" && r != nil:
		most := map[world.Part]float64{}
		for _, slice := range q.Slices() {
			most[slice.Part] = max(most[slice.Part], table.ReadUnits(int(slice.DeclaredBytes()), consistent))
		}
		return func(part world.Part) float64 {
			if len(most) == 0 {
				return r.Units(consistent) // a raw request in a form that names no partition
			}
			return most[part]
		}
	}

	limit, grow := q.Limit, p.World.Growth(v.Space)
	if r != nil {
		limit = r.Limit
	}
	return func(part world.Part) float64 {
		rows := v.In(part)
		each := grow.In(rows)
		bytes, declared := 0.0, 0.0
		for _, row := range rows {
			bytes += float64(row.Size()) * each(row.Item)
			declared += each(row.Item)
		}
		if limit > 0 && declared > float64(limit) {
			bytes *= float64(limit) / declared
		}
		return table.ReadUnits(int(bytes), consistent)
	}
}

// reportLoad reports a load that is near the limit of a partition, or beyond it.
func reportLoad(p *rule.Pass, v *rule.View, rates *world.Rates, l partLoad) {
	it := v.Rows[l.at.From].Item
	when, over := "", rule.Others(l.over-1, "over that limit")
	if rates.Periodic(it.Entity) {
		when, over = " in its period", ""
	}

	f := v.FindingOf(l.at,
		"at the declared rates, partition %s of %s gets %s per second%s, and one partition serves %s%s",
		v.PartitionKey(it), v, text.Amount(text.Figure(l.units), l.unit), when, text.Thousands(int(l.limit)), over)
	if l.among > 1 {
		f.Say("; the requests are spread over %s at most", text.Count(int(l.among), "partition"))
	}
	if v.Index != nil && !v.Index.Local && l.limit == maxWrites {
		f.Say("; while an index is throttled, so are the writes of its table")
	}
	if l.query != nil {
		f.Pattern, f.Pos = l.query.Name, l.query.Pos
	}
	if l.units <= l.limit {
		f.Severity = model.Warning
	}
	if l.at.To-l.at.From == 1 {
		f.Keys = f.Keys[:1]
		f.Advice = "keep copies of the item under several keys, or cache it"
	} else {
		f.Advice = divideAdvice
		proposeShards(f, v, it)
	}

	p.Report(f)
}
