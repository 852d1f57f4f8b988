package lint

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/keys"
)

// divideAdvice is the general advice for a partition that is too large or too
// hot.
const divideAdvice = "divide it by a component that each query knows, or by a shard number from a hash of the id"

// proposeShards proposes to divide the partition of an item by a shard number.
func proposeShards(f *rule.Finding, v *rule.View, it *world.Item) {
	if it.Entity != nil && it.Entity.Field("shard") == nil {
		proposePart(f, v, it.Entity, "shard", "int(2)", "7", "divide it by a shard number from a hash of the id",
			", and query the shards in parallel")
	}
}

// proposeDays proposes to divide the partition of an item by day.
func proposeDays(f *rule.Finding, v *rule.View, it *world.Item) {
	e := it.Entity
	if e == nil {
		return
	}
	field, _ := rule.TimeField(e)
	if field != "" && !e.ComponentsOf(v.Hash[:1])[field] {
		proposePart(f, v, e, field, "date", it.Values.Get(field), "divide it by day if patterns know it", "")
	}
}

// proposePart proposes to append a component to the partition key of an entity,
// and of those that share its partitions. Patterns give a value of it.
func proposePart(f *rule.Finding, v *rule.View, e *model.Entity, field, typ, value, how, more string) {
	name := v.Hash[0].Name
	src := templateOf(e, name)
	if src == "" {
		return
	}
	better := src + "#{" + field + ":" + typ + "}"
	fix := rule.Proposal{Text: how + ": " + rule.Writing(name, better) + more, Or: true, Fewer: true}
	for _, o := range v.Entities() {
		if templateOf(o, name) == src {
			fix.Edits = append(
				fix.Edits, rule.WriteTemplate(o.Name, name, better),
				rule.AlsoGiven(v.Table.Name, v.IndexName(), o.Name, field, value),
			)
		}
	}
	fix.Edits = append(fix.Edits, func(m *model.Model) bool {
		for _, q := range m.Patterns { // as the proposal says
			if slices.ContainsFunc(q.Where, func(c model.Condition) bool { return c.Field == field }) {
				q.About += " Each " + field + " is read in parallel."
			}
		}
		return true
	})
	f.Proposals = append(f.Proposals, fix)
}

// templateOf returns the template of an entity's attribute as text, also that of
// a constant, or "".
func templateOf(e *model.Entity, name string) string {
	t := e.Attribute(name)
	switch {
	case t == nil || t.Kind != attr.String:
		return ""
	case t.Template != nil:
		return t.Template.String()
	default:
		return rule.Source([]keys.Part{{Literal: string(t.Const.Raw())}})
	}
}
