package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
)

const sparseID = "sparse-index"

var sparseIndex = lint{Rule{
	ID: sparseID, Title: "Membership of a sparse index", Severity: model.Warning,
	Help: "An item is in an index if it has all key attributes of the index, and is silently left out otherwise. " +
		"An entity with the partition key of an index but not its sort key is never in it. An entity whose condition covers only one of the two pays for an attribute without effect.",
	Example: []string{`GSI1PK: "STATUS#NEW" and no GSI1SK: not in GSI1`},
	Cure:    "Write all key attributes of an index or none, under one condition: when: {status: [NEW, PAID]} on both.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-indexes-general-sparse-indexes.html",
}, func(l *linter) {
	for _, v := range l.views {
		if v.x == nil {
			continue
		}
		for _, e := range l.entities {
			if e.Table == v.t {
				l.membership(v, e)
			}
		}
	}
}}

func (l *linter) membership(v *view, e *model.Entity) {
	var made, missing []string
	var when []*model.Template // those with a condition
	var always []*model.Template
	own := 0 // attributes that exist for the index
	for _, a := range v.all {
		t := e.Attribute(a.Name)
		if !slices.Contains(v.t.Keys(), a) && t != nil && !natural(t) {
			own++
		}
		switch {
		case t == nil:
			missing = append(missing, a.Name)
			continue
		case len(t.When) > 0:
			when = append(when, t)
		case !slices.Contains(v.t.Keys(), a):
			always = append(always, t)
		}
		made = append(made, a.Name)
	}
	if own == 0 && (len(missing) > 0 || len(made) == 0) {
		return
	}
	f := v.in(model.Finding{Entity: e.Name, Pos: e.Attribute(made[0]).Pos})
	var fixes []proposal
	items := l.items[e]
	switch {
	case len(missing) > 0:
		if l.hasAttributes(v, e, missing) {
			return
		}
		f.Message = fmt.Sprintf(
			"%s has %s but not %s, so it is never in index %s", e.Name, list(made), list(missing), v.x.Name,
		)
		f.Advice = fmt.Sprintf("add %s to the attributes of %s", list(missing), e.Name)
		extra := slices.DeleteFunc(slices.Clone(made), func(name string) bool {
			return slices.ContainsFunc(v.t.Keys(), func(a model.Attribute) bool { return a.Name == name })
		})
		fixes = append(
			fixes,
			proposal{text: f.Advice + ", or remove " + list(extra), edits: []edit{removeAttributes(e.Name, extra)}},
		)
		f.Keys = l.tableKeys(v, items)
	case len(when) > 0 && len(always) > 0:
		f.Message = fmt.Sprintf(
			"%s of %s has a condition and %s does not: the index holds only items with both, and the others store %s for nothing",
			names(when), e.Name, names(always), names(always),
		)
		f.Advice = "give all key attributes of the index one condition"
		fixes = append(fixes, proposal{
			text:  fmt.Sprintf("give %s the condition of %s: when: %s", names(always), names(when), whenText(when[0].When)),
			edits: []edit{writeWhen(e.Name, when[0].When, templateNames(always)...)},
		})
		f.Keys = l.tableKeys(v, items)
	case len(when) > 1 && !sameWhen(when):
		f.Message = fmt.Sprintf(
			"%s of %s have different conditions: index %s holds only items that meet both", names(when), e.Name,
			v.x.Name,
		)
		f.Advice = "give both one condition"
		fixes = append(fixes, proposal{
			text:  fmt.Sprintf("give both one condition: when: %s", whenText(when[0].When)),
			edits: []edit{writeWhen(e.Name, when[0].When, templateNames(when)...)},
		})
		f.Keys = l.tableKeys(v, items)
	case len(when) > 0:
		all, field := l.coversAll(e, when[0])
		if !all {
			return
		}
		f.Severity = model.Note
		f.Pos = when[0].Pos
		f.Message = fmt.Sprintf(
			"the condition of %s lists all values of %s, so index %s is not sparse", when[0].Name, field, v.x.Name,
		)
		f.Advice = "list only the values that patterns query"
		fixes = append(
			fixes,
			proposal{text: "remove the condition, or list only the values that patterns query", edits: []edit{writeWhen(e.Name, nil, templateNames(when)...)}},
		)
		f.Keys = l.tableKeys(v, items)
	default:
		var in, out *world.Item
		n := 0
		for _, it := range items {
			if _, ok := v.size(it.Attributes); ok {
				in = it
			} else {
				if n++; out == nil {
					out = it
				}
			}
		}
		if in == nil || out == nil {
			return
		}
		f.Severity = model.Note
		f.Message = fmt.Sprintf(
			"index %s leaves out %s of %s of %s because of a missing key attribute, but no condition says so", v.x.Name,
			text.Thousands(n), text.Count(len(items), "item"), e.Name,
		)
		f.Advice = "add the missing values, or use when: to say which items belong in the index"
		f.Keys = l.tableKeys(v, []*world.Item{out, in})
	}
	l.propose(f, fixes...)
}

// natural reports whether an attribute is just the field of its name, which
// items have with or without an index.
func natural(t *model.Template) bool {
	return t.Template != nil && t.Template.String() == "{"+t.Name+"}"
}

// hasAttributes reports whether samples have the attributes themselves.
func (l *linter) hasAttributes(v *view, e *model.Entity, names []string) bool {
	for _, it := range l.items[e] {
		has := true
		for _, name := range names {
			has = has && it.Attributes.Get(name).Kind() != 0
		}
		if has {
			return true
		}
		if it.Generated {
			break
		}
	}
	return false
}

// tableKeys returns the table keys of the first two items.
func (l *linter) tableKeys(v *view, items []*world.Item) (shown []string) {
	table := &view{t: v.t, all: v.t.Keys()}
	for _, it := range items[:min(2, len(items))] {
		shown = append(shown, table.keyOf(it.Attributes))
	}
	return shown
}

func names(all []*model.Template) string { return strings.Join(templateNames(all), " and ") }

func templateNames(all []*model.Template) (list []string) {
	for _, t := range all {
		list = append(list, t.Name)
	}
	return list
}

func sameWhen(all []*model.Template) bool {
	for _, t := range all[1:] {
		if !maps.EqualFunc(all[0].When, t.When, slices.Equal[[]string]) {
			return false
		}
	}
	return true
}

func whenText(when map[string][]string) string {
	var parts []string
	for _, field := range slices.Sorted(maps.Keys(when)) {
		parts = append(parts, fmt.Sprintf("%s: [%s]", field, strings.Join(when[field], ", ")))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// coversAll reports whether a condition lists all possible values of its field.
func (l *linter) coversAll(e *model.Entity, t *model.Template) (bool, string) {
	for _, field := range slices.Sorted(maps.Keys(t.When)) {
		f := e.Field(field)
		if f == nil {
			return false, ""
		}
		all := f.Values
		if len(all) == 0 {
			all = f.Type.Values
		}
		if len(all) == 0 {
			return false, ""
		}
		for _, v := range all {
			if !slices.Contains(t.When[field], v) {
				return false, ""
			}
		}
	}
	return len(t.When) > 0, slices.Sorted(maps.Keys(t.When))[0]
}
