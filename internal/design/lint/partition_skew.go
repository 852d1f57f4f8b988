package lint

import (
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
)

var partitionSkew = rule.Rule{
	ID: "partition-skew", Title: "Partitions that hold too much of the table", Severity: model.Warning,
	Help: "Capacity is divided among partitions by the hash of the partition key. A key with few values, or with a " +
		"value that most items share, puts much of the data, and usually most requests, into one partition: a " +
		"status, a country, a constant.",
	Example: []string{`GSI1: "STATUS#DONE": 90% of 2,000,000 items`},
	Cure: "Add a component to the key that each query knows, STATUS#{status}#{day:date}, or a number from a hash " +
		"of the id, STATUS#{status}#{shard:int(2)}, and query all shards in parallel.",
	Source: guide + "bp-partition-key-design.html",

	View: checkPartitionSkew,
}

// A partition is a finding from manyItems rows or manyBytes bytes on, if it
// also has a share of largePart of the view.
const (
	manyItems = 100_000
	manyBytes = 1 << 30
	largePart = 0.1
)

// A partVolume is a number of items at the declared scale, with their bytes.
type partVolume struct{ items, bytes float64 }

func (o partVolume) add(r *world.Row, times float64) partVolume {
	return partVolume{o.items + times, o.bytes + times*float64(r.Size())}
}

// many reports whether the volume is a finding for a partition.
func (o partVolume) many() bool { return o.items >= manyItems || o.bytes >= manyBytes }

func checkPartitionSkew(p *rule.Pass, v *rule.View) {
	if len(v.Rows) == 0 {
		return
	}

	var all, most partVolume
	var at world.Part
	large := 0
	grow := p.World.Growth(v.Space)
	for _, part := range v.Parts {
		var own partVolume
		rows := v.In(part)
		each := grow.In(rows)
		for _, r := range rows {
			own = own.add(&r, each(r.Item))
		}
		if own.many() {
			large++
		}
		if own.items > most.items || own.items == most.items && own.bytes > most.bytes {
			most, at = own, part
		}
	}

	for _, r := range v.Rows {
		all = all.add(&r, p.World.Represents(r.Item))
	}
	most = partVolume{min(most.items, all.items), min(most.bytes, all.bytes)}
	if (most.items < manyItems || most.items < largePart*all.items) &&
		(most.bytes < manyBytes || most.bytes < largePart*all.bytes) {
		return
	}

	it := v.Rows[at.From].Item
	f := v.FindingOf(at, "at the declared scale, partition %s of %s holds %s items, %s of all, in %s%s",
		v.PartitionKey(it), v, text.Thousands(int(most.items)), text.Percent(most.items/all.items),
		text.Size(most.bytes), rule.Others(large-1, "large"))
	f.Advice = divideAdvice
	proposeDays(f, v, it)
	proposeShards(f, v, it)
	p.Report(f)
}
