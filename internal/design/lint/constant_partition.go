package lint

import (
	"slices"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
)

var constantPartition = rule.Rule{
	ID: "constant-partition", Title: "All items in one partition", Severity: model.Note,
	Help: "A partition key without a component puts all items of an entity into one partition of the table or the " +
		"index. It holds as much as you like, but serves only 3,000 read units and 1,000 write units per second, " +
		"however many items there are. The rule applies if the model declares no count and no writes; with them, " +
		"partition-skew and hot-partition judge the partition by its size and its load. An attribute with a " +
		"condition is a small part of the items by design, and an index by the sort key of its table is not made " +
		"for the entities that have one value there.",
	Example: []string{`"USERS", "USER#ann"`, `"USERS", "USER#bob"`},
	Cure: "Declare count and rates to see whether one partition is enough. If it is not, add a component to the " +
		"partition key: USERS#{country}, or USERS#{shard:int(2)}.",
	Source: guide + "bp-partition-key-design.html",

	View: func(p *rule.Pass, v *rule.View) {
		for _, e := range v.Entities() {
			if v.WrittenBy(e) {
				checkConstantPartition(p, v, e)
			}
		}
	},
}

func checkConstantPartition(p *rule.Pass, v *rule.View, e *model.Entity) {
	key := v.Hash[0].Name
	declared := slices.ContainsFunc(v.Entities(), func(o *model.Entity) bool {
		same := o == e || v.WrittenBy(o) && templateOf(o, key) == templateOf(e, key)
		return same && (o.Count > 0 || o.Writes > 0)
	})
	local := v.Index != nil && (v.Index.Local || v.Table.Has(key))
	conditional := slices.ContainsFunc(v.Keys, func(a model.Attribute) bool {
		return len(e.Attribute(a.Name).When) > 0
	})
	several := len(e.ComponentsOf(e.Table.Keys())) > 0
	if declared || local || conditional || !several || len(e.ComponentsOf(v.Hash)) > 0 {
		return
	}
	f := v.Finding("all items of %s are in one partition of %s, however many there will be", e.Name, v)
	f.Entity, f.Pos = e.Name, e.Attribute(key).Pos
	f.Keys = v.Example(e)
	f.Advise("declare count and rates of %s to see whether one partition is enough, or add a component to %s", e.Name,
		key)
	p.Report(f)
}
