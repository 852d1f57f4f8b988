package lint

import (
	"slices"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
)

var sparseIndex = Rule{
	ID: "sparse-index", Title: "Items that an index leaves out", Severity: model.Warning,
	Help: "An item is in an index if it has all key attributes of the index, and is silently left out " +
		"otherwise. An entity with the partition key of an index but not its sort key is never in it. If both " +
		"have conditions that differ, only items that meet both are in it. If no item can enter, every query " +
		"of the index returns nothing; that is an error if a pattern reads it.",

	View: func(p *Pass, v *View) {
		if v.Index == nil {
			return
		}
		checkEmpty(p, v)
		for _, e := range v.Entities() {
			checkMember(p, v, e)
		}
	},
}

// checkMember reports an entity that has some key attributes of an index but lacks others, or whose key attributes
// have different conditions.
func checkMember(p *Pass, v *View, e *model.Entity) {
	var missing []string
	// made has the templates of the key attributes; when has those with a condition
	var made, when []*model.Template
	own := false // some attribute of the entity exists only for the index
	for _, a := range v.Keys {
		t := e.Attribute(a.Name)
		if t == nil {
			missing = append(missing, a.Name)
			continue
		}
		if made = append(made, t); t.Conditional() {
			when = append(when, t)
		}
		own = own || !v.Table.Has(a.Name) && !natural(t.Name, t.Template)
	}

	items, table := p.Items(e), p.TableView(v.Table)
	written := func(it *dataset.Item) bool { // a sample can have attributes without a template
		lacks := func(name string) bool { return it.Attributes.Get(name).Kind() == 0 }
		return !it.Generated && !slices.ContainsFunc(missing, lacks)
	}
	f := v.Finding("")
	switch {
	case own && len(missing) > 0 && !slices.ContainsFunc(items, written):
		f.Say("%s has %s but not %s, so it is never in %s", e.Name, namesOf(made), missing, v)
		f.Advise("add %s to the attributes of %s", missing, e.Name)
		if extra := slices.DeleteFunc(namesOf(made), v.Table.Has); len(extra) > 0 {
			f.Advise("add %s to the attributes of %s, or remove %s", missing, e.Name, extra)
		}
	case len(missing) == 0 && len(v.Rows) > 0 && len(when) > 1 && when[0].Condition() != when[1].Condition():
		f.Say("%s of %s have different conditions: %s holds only items that meet all", namesOf(when), e.Name, v)
		f.Advise("give all one condition: %s", when[0].Condition())
	default:
		return
	}
	f.Entity, f.Pos, f.Keys = e.Name, made[0].Pos, table.Shown(items[:min(2, len(items))]...)
	p.Report(f)
}

func namesOf(all []*model.Template) (list []string) {
	for _, t := range all {
		list = append(list, t.Name)
	}
	return list
}

// checkEmpty reports an index that has no rows because no entity has all of its key attributes.
func checkEmpty(p *Pass, v *View) {
	table := p.TableView(v.Table)
	if len(v.Rows) > 0 || len(v.Entities()) == 0 && len(table.Rows) == 0 {
		return // without items in the table, an empty index proves nothing
	}
	written := map[string]bool{}
	for _, e := range v.Entities() {
		for _, t := range e.Attributes {
			written[t.Name] = true
		}
		if v.WrittenBy(e) {
			return
		}
	}
	for _, r := range table.Rows {
		for _, a := range v.Keys {
			written[a.Name] = written[a.Name] || r.Item.Attributes.Get(a.Name).Kind() != 0
		}
	}

	all := keyNames(v.Keys)
	missing := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return written[name] })
	f := v.Finding("no item can enter %s: ", v)
	if len(missing) == 0 {
		missing = all
		f.Say("none has all of %s", all)
	} else {
		f.Say("no entity and no item has %s", missing)
	}
	f.Advise("add %s to the items that belong in the index", missing)
	if slices.ContainsFunc(p.Queries, func(q *Query) bool { return q.View == v }) {
		f.Severity = model.Error
	}
	if len(table.Rows) == 0 {
		f.Keys = table.Example(v.Entities()[0])
	} else {
		f.Keys = table.Shown(table.Rows[0].Item)
	}
	f.Propose(f.Advice+", or remove the index", removeIndex(v.Table.Name, v.Index.Name))
	p.Report(f)
}
