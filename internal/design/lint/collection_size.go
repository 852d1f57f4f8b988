package lint

import (
	"slices"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
)

var collectionSize = rule.Rule{
	ID: "collection-size", Title: "Item collections beyond 10 GB", Severity: model.Error,
	Help: "In a table with a local index, all items with one partition key and their rows in local indexes form an " +
		"item collection of at most 10 GB. At the limit, writes that would enlarge it are refused for good: a " +
		"local index cannot be removed from a table. Tables without local indexes have no such limit.",
	Example: []string{`"TENANT#big": 14 GB`},
	Cure:    "Use a global index instead of the local one, or divide the collection: TENANT#{tenant}#{month:month}.",
	Source:  guide + "LSI.html (item collection size limit)",

	View: checkCollectionSize,
}

// maxCollectionBytes is the limit of an item collection. Source: DG/LSI.html.
const maxCollectionBytes = 10 << 30

func checkCollectionSize(p *rule.Pass, v *rule.View) {
	local := slices.DeleteFunc(slices.Clone(p.Views), func(o *rule.View) bool {
		return o.Table != v.Table || o.Index == nil || !o.Index.Local
	})
	if v.Index != nil || len(local) == 0 {
		return
	}

	grow := p.World.Growth(v.Space)
	most, over := 0.0, 0
	var at world.Part
	for _, part := range v.Parts {
		sum, each := 0.0, grow.In(v.In(part))
		count := func(rows []world.Row) {
			for _, r := range rows {
				sum += float64(r.Size()) * each(r.Item)
			}
		}
		count(v.In(part))
		for _, o := range local {
			if in, ok := o.Partition(v.PartitionOf(nil, &v.Rows[part.From])); ok {
				count(o.In(in))
			}
		}
		if sum > maxCollectionBytes {
			over++
		}
		if sum > most {
			most, at = sum, part
		}
	}
	if most < maxCollectionBytes/2 {
		return
	}

	f := v.FindingOf(at,
		"at the declared scale, the item collection of %s has %s with its local indexes, and the limit is 10 GB%s",
		v.PartitionKey(v.Rows[at.From].Item), text.Size(most), rule.Others(over-1, "over it"))
	f.Entity = "" // the collection has items of any entity
	f.Index = local[0].Index.Name
	if over == 0 {
		f.Severity = model.Warning
	}

	f.Advice = "make " + f.Index + " a global index with its own partition key, " +
		"or divide the partition by month or by a number"
	p.Report(f)
}
