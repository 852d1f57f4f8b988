package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
)

var sparseIndex = rule.Rule{
	ID: "sparse-index", Title: "Membership of a sparse index", Severity: model.Warning,
	Help: "An item is in an index if it has all key attributes of the index, and is silently left out otherwise. " +
		"An entity with the partition key of an index but not its sort key is never in it. An entity whose " +
		"condition covers only one of the two pays for an attribute without effect, unless other patterns need it.",
	Example: []string{`GSI1PK: "STATUS#NEW" and no GSI1SK: not in GSI1`},
	Cure: "Write all key attributes of an index or none, under one condition: when: {status: [NEW, PAID]} on " +
		"both.",
	Source:    guide + "bp-indexes-general-sparse-indexes.html",
	TableKeys: true,

	Member: checkSparseIndex,
}

func checkSparseIndex(p *rule.Pass, v *rule.View, e *model.Entity) {
	var missing []string
	var made, when, always []*model.Template // when and always are those with a condition and those without
	own := 0                                 // attributes that exist for the index
	for _, a := range v.Keys {
		t := e.Attribute(a.Name)
		if t == nil {
			missing = append(missing, a.Name)
			continue
		}
		made = append(made, t)
		switch {
		case t.Conditional():
			when = append(when, t)
		case !v.Table.Has(a.Name) && !isData(t) && !p.NeededBeside(v, t.Name):
			always = append(always, t)
		}
		if !v.Table.Has(a.Name) && !rule.Natural(t.Name, t.Template) {
			own++
		}
	}
	if own == 0 && (len(missing) > 0 || len(made) == 0) {
		return
	}
	f := v.Finding("")
	f.Entity, f.Pos = e.Name, made[0].Pos
	items := p.Items(e)
	f.Keys = p.TableView(v.Table).Shown(items[:min(2, len(items))]...)

	// share proposes to give attributes one condition.
	share := func(how string, condition map[string][]string, all []*model.Template) {
		if slices.ContainsFunc(when, func(t *model.Template) bool { return len(t.Ranges) > 0 }) {
			return
		}
		f.Propose(how, rule.WriteWhen(e.Name, condition, templateNames(all)...))
	}
	switch {
	case len(missing) > 0:
		if hasAttributes(items, missing) {
			return
		}
		f.Say("%s has %s but not %s, so it is never in %s",
			e.Name, templateNames(made), missing, v)
		f.Advise("add %s to the attributes of %s", missing, e.Name)
		extra := slices.DeleteFunc(templateNames(made), v.Table.Has)
		f.Propose(f.Advice+", or remove "+rule.List(extra), rule.RemoveAttributes(e.Name, extra))
	case len(when) > 0 && len(always) > 0:
		f.Say("%s of %s has a condition and %s does not: "+
			"the index holds only items with both, and the others store %s for nothing",
			joinNames(when), e.Name, joinNames(always), joinNames(always))
		f.Advice = "give all key attributes of the index one condition"
		share("give "+joinNames(always)+" the condition of "+joinNames(when)+": when: "+whenText(when[0].When),
			when[0].When, always)
	case len(when) > 1 && !sameWhen(when):
		f.Say("%s of %s have different conditions: %s holds only items that meet both", joinNames(when), e.Name, v)
		f.Advice = "give both one condition"
		share(f.Advice+": when: "+whenText(when[0].When), when[0].When, when)
	case len(when) > 0:
		field := coveredField(e, when[0])
		if field == "" {
			return
		}
		f.Severity, f.Pos = model.Note, when[0].Pos
		f.Say("the condition of %s lists all values of %s, so %s is not sparse", when[0].Name, field, v)
		f.Advice = "list only the values that patterns query"
		share("remove the condition, or "+f.Advice, nil, when)
	default:
		in, out, n := leftOut(v, items)
		if in == nil || out == nil {
			return
		}
		f.Severity = model.Note
		f.Say("%s leaves out %s of %s of %s because of a missing key attribute, but no condition says so",
			v, text.Thousands(n), text.Count(len(items), "item"), e.Name)
		f.Advice = "add the missing values, or use when: to say which items belong in the index"
		f.Keys = p.TableView(v.Table).Shown(out, in)
	}

	p.Report(f)
}

// isData reports whether an attribute is part of an item with or without an index:
// a field under its own name, or a number.
func isData(t *model.Template) bool { return t.Kind == attr.Number || rule.Natural(t.Name, t.Template) }

// leftOut returns the last of the items that an index holds and the first that
// it leaves out, and counts the latter.
func leftOut(v *rule.View, items []*world.Item) (in, out *world.Item, n int) {
	for _, it := range items {
		if v.Holds(it) {
			in = it
		} else if n++; out == nil {
			out = it
		}
	}
	return in, out, n
}

// hasAttributes reports whether samples have the attributes themselves.
func hasAttributes(items []*world.Item, names []string) bool {
	for _, it := range items {
		if !slices.ContainsFunc(names, func(name string) bool { return it.Attributes.Get(name).Kind() == 0 }) {
			return true
		}
		if it.Generated {
			break
		}
	}
	return false
}

func joinNames(all []*model.Template) string { return strings.Join(templateNames(all), " and ") }

func templateNames(all []*model.Template) (list []string) {
	for _, t := range all {
		list = append(list, t.Name)
	}
	return list
}

func sameWhen(all []*model.Template) bool {
	for _, t := range all[1:] {
		if !maps.EqualFunc(all[0].When, t.When, slices.Equal[[]string]) ||
			!slices.EqualFunc(all[0].Ranges, t.Ranges, sameRange) {
			return false
		}
	}
	return true
}

func sameRange(a, b model.FieldRange) bool {
	return a.Field == b.Field && a.Op == b.Op && slices.Equal(a.Args, b.Args)
}

func whenText(when map[string][]string) string {
	var parts []string
	for _, field := range slices.Sorted(maps.Keys(when)) {
		parts = append(parts, fmt.Sprintf("%s: [%s]", field, strings.Join(when[field], ", ")))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// coveredField returns the field of a condition that lists all possible values
// of its fields, or "".
func coveredField(e *model.Entity, t *model.Template) string {
	fields := slices.Sorted(maps.Keys(t.When))
	if len(t.Ranges) > 0 || len(fields) == 0 {
		return ""
	}
	for _, name := range fields {
		f := e.Field(name)
		if f == nil {
			return ""
		}
		all := f.Values
		if len(all) == 0 {
			all = f.Type.Values
		}
		if len(all) == 0 || slices.ContainsFunc(all, func(v string) bool { return !slices.Contains(t.When[name], v) }) {
			return ""
		}
	}
	return fields[0]
}
