package lint

import (
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
)

var emptyIndex = lint{Rule{
	ID: "empty-index", Title: "An index that no item can enter", Severity: model.Warning,
	Help: "An index holds the items that have all of its key attributes, whatever else they contain. If no entity and no raw item has them all, " +
		"or if the conditions on them exclude each other, every query of the index returns nothing, and no error says so. It is an error if a pattern reads the index.",
	Example: []string{`ByEmail: {partition: email}, but the items have eMail`},
	Cure:    "Write all key attributes of the index on the items that belong in it, or remove the index.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-indexes-general-sparse-indexes.html",
}, func(l *linter) {
	for _, v := range l.views {
		if v.x != nil && len(v.Rows) == 0 {
			l.empty(v)
		}
	}
}}

// empty reports an index without rows if no item of the model can enter it.
func (l *linter) empty(v *view) {
	f := v.in(model.Finding{Pos: v.x.Pos})
	written := map[string]bool{}
	entities, excluded := 0, ""
	for _, e := range l.entities {
		if e.Table != v.t {
			continue
		}
		entities++
		for _, a := range v.all {
			if e.Attribute(a.Name) != nil {
				written[a.Name] = true
			}
		}
		if v.writtenBy(e) {
			if field := contradiction(e, v); field != "" {
				excluded = fmt.Sprintf("%s of %s", field, e.Name)
				continue
			}
			return
		}
	}
	var example *world.Item
	for _, r := range l.tableView(v.t).Rows {
		if example == nil {
			example = r.Item
		}
		for _, a := range v.all {
			if r.Item.Attributes.Get(a.Name).Kind() != 0 {
				written[a.Name] = true
			}
		}
	}
	if entities == 0 && example == nil {
		return // a table without items says nothing
	}
	var missing []string
	for _, a := range v.all {
		if !written[a.Name] {
			missing = append(missing, a.Name)
		}
	}
	switch {
	case len(missing) > 0:
		f.Message = fmt.Sprintf("no item can enter index %s: no entity and no item has %s", v.x.Name, list(missing))
		f.Advice = fmt.Sprintf("add %s to the items that belong in the index", list(missing))
	case excluded != "":
		f.Message = fmt.Sprintf(
			"no item can enter index %s: the conditions on %s exclude each other", v.x.Name, excluded,
		)
		f.Advice = "give all key attributes of the index one condition"
	default:
		f.Message = fmt.Sprintf("no item can enter index %s: none has all of %s", v.x.Name, list(attributeNames(v.all)))
		f.Advice = fmt.Sprintf("write all of %s on the items that belong in the index", list(attributeNames(v.all)))
	}
	if slices.ContainsFunc(l.queries, func(q *query) bool { return q.v == v }) {
		f.Severity = model.Error
	}
	if example != nil {
		f.Keys = l.tableKeys(v, []*world.Item{example})
		if example.Entity != nil {
			f.Entity = example.Entity.Name
		}
	} else {
		f.Keys = l.key(l.tableView(v.t), l.entities[slices.IndexFunc(l.entities, func(e *model.Entity) bool { return e.Table == v.t })])
	}
	l.propose(f, proposal{text: f.Advice + ", or remove the index", edits: []edit{removeIndex(v.t.Name, v.x.Name)}})
}

func attributeNames(all []model.Attribute) (names []string) {
	for _, a := range all {
		names = append(names, a.Name)
	}
	return names
}

// contradiction returns a field whose conditions on the key attributes of an
// index leave no value, or "".
func contradiction(e *model.Entity, v *view) string {
	left := map[string][]string{}
	for _, a := range v.all {
		for field, values := range e.Attribute(a.Name).When {
			have, ok := left[field]
			if !ok {
				have = values
				if f := e.Field(field); f != nil && len(f.Values) > 0 {
					have = f.Values
				}
			}
			left[field] = slices.DeleteFunc(slices.Clone(have), func(value string) bool { return !slices.Contains(values, value) })
			if len(left[field]) == 0 {
				return field
			}
		}
	}
	return ""
}
