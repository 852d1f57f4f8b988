package lint

import (
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
)

var mixedPartition = rule.Rule{
	ID: "mixed-partition", Title: "An index that mixes partitions of the table", Severity: model.Warning,
	Help: "An index keyed by names that are unique only within a partition of the table, such as file paths within " +
		"an account, puts rows of different partitions with the same name into one partition: a query for the " +
		"folder root/ of one account also returns the folder root/ of every other account.",
	Example: []string{`ByParent: "/", "root/" (of account a91)`, `ByParent: "/", "root/" (of account b07)`},
	Cure: "Include the table's partition key in the partition key of the index: ByParent: {partition: [PK, " +
		"parent], sort: SK}, or joined with the name: {drive}#{parent}.",
	Source: guide + "GSI.html (index keys need not be unique)",

	Member: checkMixedPartition,
}

// checkMixedPartition looks for items of different partitions of the table that
// share a key in a global index. It applies if the index key has all fields of
// the table's sort key and none of its partition key.
func checkMixedPartition(p *rule.Pass, v *rule.View, e *model.Entity) {
	inIndex := e.ComponentsOf(v.Keys)
	own := slices.Sorted(maps.Keys(e.ComponentsOf(v.Table.Partition)))
	inside := slices.Sorted(maps.Keys(e.ComponentsOf(v.Table.Sort)))
	if v.Index.Local || len(own) == 0 || len(inside) == 0 || len(inIndex) == 0 ||
		slices.ContainsFunc(own, func(name string) bool { return inIndex[name] }) ||
		slices.ContainsFunc(inside, func(name string) bool { return !inIndex[name] }) {
		return
	}

	a, b, n := sharedKey(v, e)
	if n == 0 {
		return
	}
	table := p.TableView(v.Table)
	if table.KeyOf(b.Attributes) < table.KeyOf(a.Attributes) {
		a, b = b, a
	}

	f := v.Finding("rows of %s and %s have equal keys in %s%s: its partition key does not include %s",
		table.PartitionKey(a), table.PartitionKey(b), v, rule.AndMore(n-1), own)
	f.Entity = e.Name
	f.Keys = table.Shown(a, b)
	f.Advice = "include the partition key of the table in the partition key of the index"
	if t := e.Attribute(v.Hash[0].Name); t != nil {
		f.Pos = t.Pos
		if t.Template != nil {
			f.Proposals = includingPartition(v, e, t, own, a)
		}
	}

	p.Report(f)
}

// includingPartition returns the proposals to include the fields of the table's
// partition key in that of an index. The patterns that read the index must know
// them, as those of an item.
func includingPartition(
	v *rule.View, e *model.Entity, t *model.Template, own []string, it *world.Item,
) []rule.Proposal {
	var parts []string
	var given []rule.Edit
	for _, name := range own {
		parts = append(parts, "{"+name+"}")
		given = append(given, rule.AlsoGiven(v.Table.Name, v.Index.Name, e.Name, name, it.Values.Get(name)))
	}
	slices.Sort(parts)
	joined := strings.Join(parts, "#") + "#" + t.Template.String()
	better := *v.Index
	better.Partition = slices.Concat(v.Table.Partition, v.Hash)
	return []rule.Proposal{
		{
			Text:  "declare " + rule.IndexText(&better),
			Edits: append(slices.Clone(given), rule.WriteIndex(v.Table.Name, better)), Fewer: true,
		},
		{
			Text:  rule.Writing(t.Name, joined),
			Edits: append(given, rule.WriteTemplate(e.Name, t.Name, joined)), Or: true, Fewer: true,
		},
	}
}

// sharedKey returns the first two items of an entity that share a key in an
// index but not their partition of the table, and counts such pairs. Generated
// names coincide by chance.
func sharedKey(v *rule.View, e *model.Entity) (a, b *world.Item, n int) {
	for _, part := range v.Parts {
		var last *world.Item
		for _, r := range v.In(part) {
			if r.Item.Entity != e || r.Item.Generated {
				continue
			}
			if last != nil && equalIn(v.Keys, last, r.Item) && !equalIn(v.Table.Partition, last, r.Item) {
				if n++; n == 1 {
					a, b = last, r.Item
				}
			}
			last = r.Item
		}
	}
	return a, b, n
}

// equalIn reports whether two items have equal key attributes.
func equalIn(key []model.Attribute, a, b *world.Item) bool {
	return !slices.ContainsFunc(key, func(k model.Attribute) bool {
		return !attr.Equal(a.Attributes.Get(k.Name), b.Attributes.Get(k.Name))
	})
}
