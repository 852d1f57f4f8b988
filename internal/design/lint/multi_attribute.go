package lint

import (
	"bytes"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

var multiAttribute = rule.Rule{
	ID: "multi-attribute", Title: "Hand-joined keys that an index can replace", Severity: model.Note,
	Help: "A global index can have up to four partition key attributes and up to four sort key attributes. Rows " +
		"are ordered by the first, then by the next, each by its own type, so nothing needs to be joined, padded " +
		"or split, and numbers stay numbers. An overloaded index still needs joined keys, because its entities " +
		"have different attributes.",
	Example: []string{`"WA", "Seattle#Development"`, `"WA", "Seattle", "Development"`},
	Cure: "Declare the attributes: ByCity: {partition: state, sort: [city, dept]}. Queries give values from left " +
		"to right with =, and a range for the last one given.",
	Source: guide + "GSI.DesignPattern.MultiAttributeKeys.html",
	Option: true,

	Index: checkMultiAttribute,
}

// checkMultiAttribute reports an index of one entity that joins components by
// hand.
func checkMultiAttribute(p *rule.Pass, v *rule.View) {
	entities := slices.DeleteFunc(v.Entities(), func(e *model.Entity) bool { return !v.WrittenBy(e) })
	if v.Index.Local || len(v.Hash) != 1 || len(v.Sort) > 1 || len(entities) != 1 {
		return
	}
	e := entities[0]
	partition, ok := takenApart(v, e, v.Hash, keySide{})
	sort, ok2 := takenApart(v, e, v.Sort, partition)
	if !ok || !ok2 || len(sort.names) == 0 && len(v.Sort) > 0 || !partition.joined && !sort.joined ||
		slices.ContainsFunc(v.Rows, func(r world.Row) bool { return r.Item.Entity != e }) { // raw items lack the fields
		return
	}
	var all, missing []string
	for _, c := range slices.Concat(partition.parts, sort.parts) {
		if joinedIn(v, e, c.Name) {
			all = append(all, c.Name)
		}
		if e.Attribute(c.Name) == nil {
			missing = append(missing, c.Name)
		}
	}

	f := v.Finding("%s joins %s by hand; they could be key attributes of their own", v, all)
	f.Entity = e.Name
	for _, r := range v.Rows[:min(2, len(v.Rows))] {
		f.Keys = append(f.Keys, v.Shown(r.Item)...)
	}
	a, b, checked := sameOrder(v, sort.parts)
	switch {
	case a != nil:
		f.Say(", in a different order: each attribute sorts by its own type")
		f.Keys = v.Shown(a, b)
	case checked > 1:
		f.Say(", in the same order (%s compared)", text.Count(checked, "row"))
	}
	f.Advice = "if you change the index, declare the components as key attributes of their own"
	better := *v.Index
	better.Partition, better.Sort = partition.attributes(e), sort.attributes(e)
	change := "declare " + rule.IndexText(&better)
	if len(missing) > 0 {
		change += ", and add " + rule.List(missing) + " to the attributes of " + e.Name
	}
	f.Propose(change, rule.StoreFields(e.Name, missing), rule.WriteIndex(v.Table.Name, better))
	p.Report(f)
}

// A keySide is the partition key or the sort key of an index, taken apart.
type keySide struct {
	names  []string    // of its fields, or of an attribute without fields
	parts  []keys.Part // the fields
	joined bool        // they are joined for the index
}

// takenApart returns a side with at most one attribute. It leaves out fields that
// are in the other side, and reports false if they cannot be key attributes
// themselves: an attribute has one precision, so the day of a time in one side
// and the time in the other need the joined keys.
func takenApart(v *rule.View, e *model.Entity, key []model.Attribute, known keySide) (s keySide, ok bool) {
	for _, a := range key {
		t := e.Attribute(a.Name)
		if t.Template == nil || len(t.Template.Components()) == 0 {
			return keySide{names: []string{a.Name}}, true
		}

		for _, c := range t.Template.Parts() {
			if c.Name == "" {
				continue
			}
			if i := slices.Index(known.names, c.Name); i >= 0 {
				if i >= len(known.parts) || known.parts[i].Type.String() != c.Type.String() {
					return s, false
				}
				continue
			}
			f := e.Field(c.Name)
			rounded := f != nil && model.Moment(f.Type) && f.Type.String() != c.Type.String()
			if t.Conditional() || c.Type.Desc || c.Type.Name == "path" || rounded {
				return s, false
			}
			s.parts = append(s.parts, c)
			s.names = append(s.names, c.Name)
		}

		// If the table's own key serves, nothing is joined for the index.
		s.joined = len(t.Template.Components()) > 1 && !v.Table.Has(a.Name)
	}
	return s, len(s.names) <= 4
}

// attributes returns the side as key attributes, numbers as numbers.
func (s *keySide) attributes(e *model.Entity) (all []model.Attribute) {
	for i, name := range s.names {
		a := model.Attribute{Name: name}
		if t := e.Attribute(name); t != nil {
			a.Kind = t.Kind
		} else {
			a.Kind = rule.KindOf(s.parts[i].Type)
		}
		all = append(all, a)
	}
	return all
}

// joinedIn reports whether a key attribute of the index joins a field with
// others.
func joinedIn(v *rule.View, e *model.Entity, name string) bool {
	return slices.ContainsFunc(v.Keys, func(a model.Attribute) bool {
		t := e.Attribute(a.Name).Template
		return t != nil && len(t.Components()) > 1 && slices.Contains(t.Components(), name)
	})
}

// sameOrder compares the order of rows with the order by their components. It
// returns the first two adjacent rows that would swap, and the number of rows
// compared.
func sameOrder(v *rule.View, parts []keys.Part) (a, b *world.Item, checked int) {
	var last, now []byte
	for _, p := range v.Parts {
		last = last[:0]
		for i, r := range v.In(p) {
			now = now[:0]
			for _, c := range parts {
				value, ok := componentValue(c, r.Item.Values.Get(c.Name))
				if !ok {
					return nil, nil, 0
				}
				now = item.AppendKey(now, value)
			}
			if i > 0 && bytes.Compare(last, now) > 0 {
				return v.Rows[p.From+i-1].Item, r.Item, checked
			}
			last, now = now, last
			checked++
		}
	}
	return nil, nil, checked
}

// componentValue returns a component's value as an attribute value.
func componentValue(p keys.Part, s string) (attr.Value, bool) {
	if rule.Numeric(p.Type) {
		v, err := attr.NewNumber(s)
		return v, err == nil
	}
	part, err := p.Type.Encode(s)
	return attr.NewString(part), err == nil
}
