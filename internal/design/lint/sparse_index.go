package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var sparseIndex = rule.Rule{
	ID: "sparse-index", Title: "Items that an index leaves out", Severity: model.Warning,
	Help: "An item is in an index if it has all key attributes of the index, and is silently left out " +
		"otherwise. An entity with the partition key of an index but not its sort key is never in it. If both " +
		"have conditions that differ, only items that meet both are in it. If no item can enter, every query " +
		"of the index returns nothing; that is an error if a pattern reads it.",

	Member: checkMember, Index: checkEmpty,
}

// checkMember reports an entity that has some of an index's key attributes, or has them under different conditions.
func checkMember(p *rule.Pass, v *rule.View, e *model.Entity) {
	var missing []string
	var made, when []*model.Template // when are those with a condition
	own := 0                         // attributes that exist for the index
	for _, a := range v.Keys {
		t := e.Attribute(a.Name)
		if t == nil {
			missing = append(missing, a.Name)
			continue
		}
		made = append(made, t)
		natural := rule.Natural(t.Name, t.Template)
		if t.Conditional() {
			when = append(when, t)
		}
		if !v.Table.Has(a.Name) && !natural {
			own++
		}
	}
	if own == 0 && (len(missing) > 0 || len(made) == 0) || len(v.Rows) == 0 && len(missing) == 0 {
		return // checkEmpty reports an index without rows
	}

	f := v.Finding("")
	f.Entity, f.Pos = e.Name, made[0].Pos
	items := p.Items(e)
	table := p.TableView(v.Table)
	f.Keys = table.Shown(items[:min(2, len(items))]...)
	switch {
	case len(missing) > 0:
		for _, it := range items {
			lacks := func(name string) bool { return it.Attributes.Get(name).Kind() == 0 }
			if !it.Generated && !slices.ContainsFunc(missing, lacks) {
				return // samples have the attributes themselves
			}
		}
		f.Say("%s has %s but not %s, so it is never in %s", e.Name, namesOf(made), missing, v)
		f.Advise("add %s to the attributes of %s", missing, e.Name)
		if extra := slices.DeleteFunc(namesOf(made), v.Table.Has); len(extra) > 0 {
			f.Advise("add %s to the attributes of %s, or remove %s", missing, e.Name, extra)
		}
	case len(when) > 1 && whenText(when[0]) != whenText(when[1]):
		names := namesOf(when)
		f.Say("%s of %s have different conditions: %s holds only items that meet all", names, e.Name, v)
		f.Advise("give all one condition: when: %s", whenText(when[0]))
	case len(when) > 0:
		return
	default:
		var in, out []string
		for _, it := range items {
			if v.Holds(it) {
				in = table.Shown(it)
			} else {
				out = append(out, table.Shown(it)...)
			}
		}
		if in == nil || out == nil {
			return
		}
		f.Severity = model.Note
		f.Say("%s leaves out %s of %s of %s because of a missing key attribute, but no condition says so",
			v, text.Thousands(len(out)), text.Count(len(items), "item"), e.Name)
		f.Advice = "add the missing values, or use when: to say which items belong in the index"
		f.Keys = append(out[:1:1], in...)
	}
	p.Report(f)
}

func namesOf(all []*model.Template) (list []string) {
	for _, t := range all {
		list = append(list, t.Name)
	}
	return list
}

// whenText returns the condition of an attribute as in a model file.
func whenText(t *model.Template) string {
	var parts []string
	for _, field := range slices.Sorted(maps.Keys(t.When)) {
		parts = append(parts, fmt.Sprintf("%s: [%s]", field, strings.Join(t.When[field], ", ")))
	}
	for _, r := range t.Ranges {
		parts = append(parts, fmt.Sprintf("%s: {%v: %s}", r.Field, r.Op, strings.Join(r.Args, ", ")))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// checkEmpty reports an index without rows, if no entity can have all of its key attributes at once.
func checkEmpty(p *rule.Pass, v *rule.View) {
	table := p.TableView(v.Table)
	if len(v.Rows) > 0 || len(v.Entities()) == 0 && len(table.Rows) == 0 {
		return // a table without items says nothing
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

	all := rule.Names(v.Keys)
	missing := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return written[name] })
	f := v.Finding("no item can enter %s: ", v)
	if len(missing) == 0 {
		missing = all
		f.Say("none has all of %s", all)
	} else {
		f.Say("no entity and no item has %s", missing)
	}
	f.Advise("add %s to the items that belong in the index", missing)
	if slices.ContainsFunc(p.Queries, func(q *rule.Query) bool { return q.View == v }) {
		f.Severity = model.Error
	}
	if len(table.Rows) == 0 {
		f.Keys = table.Example(v.Entities()[0])
	} else {
		f.Keys = table.Shown(table.Rows[0].Item)
	}
	f.Propose(f.Advice+", or remove the index", rule.RemoveIndex(v.Table.Name, v.Index.Name))
	p.Report(f)
}
