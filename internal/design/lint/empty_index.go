package lint

import (
	"slices"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
)

var emptyIndex = rule.Rule{
	ID: "empty-index", Title: "An index that no item can enter", Severity: model.Warning,
	Help: "An index holds the items that have all of its key attributes, whatever else they contain. If no entity " +
		"and no raw item has them all, or if the conditions on them exclude each other, every query of the index " +
		"returns nothing, and no error says so. It is an error if a pattern reads the index.",
	Example: []string{`ByEmail: {partition: email}, but the items have eMail`},
	Cure:    "Write all key attributes of the index on the items that belong in it, or remove the index.",
	Source:  guide + "bp-indexes-general-sparse-indexes.html",

	Index: checkEmptyIndex,
}

// checkEmptyIndex reports an index without rows if no item of the model can
// enter it.
func checkEmptyIndex(p *rule.Pass, v *rule.View) {
	table := p.TableView(v.Table)
	entities := v.Entities()
	if len(v.Rows) > 0 || len(entities) == 0 && len(table.Rows) == 0 {
		return // a table without items says nothing
	}
	written := map[string]bool{}
	excluded := ""
	for _, e := range entities {
		for _, t := range e.Attributes {
			written[t.Name] = true
		}
		if v.WrittenBy(e) {
			field := excludedField(e, v)
			if field == "" {
				return
			}
			excluded = field + " of " + e.Name
		}
	}
	for _, r := range table.Rows {
		for _, a := range v.Keys {
			if r.Item.Attributes.Get(a.Name).Kind() != 0 {
				written[a.Name] = true
			}
		}
	}

	all := rule.Names(v.Keys)
	missing := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return written[name] })
	f := v.Finding("no item can enter %s: ", v)
	switch {
	case len(missing) > 0:
		f.Say("no entity and no item has %s", missing)
		f.Advise("add %s to the items that belong in the index", missing)
	case excluded != "":
		f.Say("the conditions on %s exclude each other", excluded)
		f.Advice = "give all key attributes of the index one condition"
	default:
		f.Say("none has all of %s", all)
		f.Advise("write all of %s on the items that belong in the index", all)
	}
	if slices.ContainsFunc(p.Queries, func(q *rule.Query) bool { return q.View == v }) {
		f.Severity = model.Error
	}
	if len(table.Rows) > 0 {
		example := table.Rows[0].Item
		f.Keys = table.Shown(example)
		if example.Entity != nil {
			f.Entity = example.Entity.Name
		}
	} else {
		f.Keys = table.Example(entities[0])
	}
	f.Propose(f.Advice+", or remove the index", rule.RemoveIndex(v.Table.Name, v.Index.Name))
	p.Report(f)
}

// excludedField returns a field whose conditions on the key attributes of an
// index leave no value, or "".
func excludedField(e *model.Entity, v *rule.View) string {
	left := map[string][]string{}
	for _, a := range v.Keys {
		for field, values := range e.Attribute(a.Name).When {
			have, ok := left[field]
			if !ok {
				have = values
				if f := e.Field(field); f != nil && len(f.Values) > 0 {
					have = f.Values
				}
			}
			left[field] = slices.DeleteFunc(slices.Clone(have), func(value string) bool {
				return !slices.Contains(values, value)
			})
			if len(left[field]) == 0 {
				return field
			}
		}
	}
	return ""
}
