package diff

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// Renames maps names of entities and tables in the old version to their names in the new one. The new name "" says
// that their items are to be deleted. An entity may be renamed even if the new version gives its old name to another
// entity; a table may not.
//
// If an entity is split, its items go to different new entities, by their form. A name that begins with = prevents
// that: all items become items of the named entity.
type Renames map[string]string

// of returns the new name of an entity or a table, without the = before it. all is true if r has a = there. said is
// true if r has the old name.
func (r Renames) of(old string) (made string, all, said bool) {
	made, said = r[old]
	rest, all := strings.CutPrefix(made, "=")
	return rest, all, said
}

// check returns an error if the old version lacks an old name of r or the new version lacks a new one, if both
// versions have a table that r renames, or if r makes a table of an entity or an entity of a table.
func (r Renames) check(was, is *model.Model) error {
	names := func(m *model.Model) (all []string) {
		for _, e := range m.Entities {
			all = append(all, e.Name)
		}
		for _, t := range m.Tables {
			all = append(all, t.Name)
		}
		return all
	}
	for old := range r {
		made, _, _ := r.of(old)
		for _, one := range []struct {
			name, version string
			m             *model.Model
		}{{old, "old", was}, {made, "new", is}} {
			if one.name != "" && one.m.Entity(one.name) == nil && one.m.Table(one.name) == nil {
				return advice.New(
					text.DidYouMean(one.name, names(one.m)),
					"the %s version has no entity or table %s", one.version, one.name,
				)
			}
		}
		entity := was.Entity(old) != nil
		switch {
		case !entity && is.Table(old) != nil:
			return advice.New(
				"rename a table in the model", "both versions have table %s", old,
			)
		case made != "" && entity && is.Entity(made) == nil || made != "" && !entity && is.Table(made) == nil:
			return advice.New(
				"name an entity for an entity, and a table for a table", "%s and %s are not of one kind", old, made,
			)
		}
	}
	return nil
}

// A pair is an entity of the old version and the entity that it became in the new version.
type pair struct {
	was, is *model.Entity
	// from maps fields of the new version to fields of the old one.
	from map[string]string
}

// pairs finds the new entity for each entity of the old version. It first takes the name that renames give, or else
// the same name. If as many old as new entities are then left, some may have another name: pairs joins an old and a
// new one whose keys are equal, unless a third one that is left has these keys too.
func pairs(was, is *model.Model, renames Renames) map[*model.Entity]*pair {
	all := map[*model.Entity]*pair{}
	taken := map[*model.Entity]bool{}
	join := func(a, b *model.Entity) {
		all[a], taken[b] = &pair{a, b, fieldsFrom(a, b)}, true
	}
	var gone []*model.Entity
	for _, a := range was.Entities {
		name, _, said := renames.of(a.Name)
		if !said {
			name = a.Name
		}
		if b := is.Entity(name); b != nil {
			join(a, b)
		} else if !said || name != "" {
			gone = append(gone, a)
		}
	}

	like := func(list []*model.Entity, e *model.Entity) (found []*model.Entity) {
		for _, other := range list {
			if sameKeys(e, other) {
				found = append(found, other)
			}
		}
		return found
	}
	fresh := slices.DeleteFunc(slices.Clone(is.Entities), func(e *model.Entity) bool { return taken[e] })
	if len(fresh) != len(gone) {
		return all // an entity may have been split, or another entity may have its keys now
	}
	for _, a := range gone {
		if made := like(fresh, a); len(made) == 1 && len(like(gone, made[0])) == 1 {
			join(a, made[0])
		}
	}
	return all
}

// Align sets the origins of renamed entities and fields of the new version, so that a new name alone does not change
// the generated items and their figures. Call it before the datasets are built.
func Align(was, is *model.Model, renames Renames) {
	for _, p := range pairs(was, is, renames) {
		p.is.Origin = p.was.Name
		for made, old := range p.from {
			p.is.Field(made).Origin = old
		}
	}
}

// splits returns more pairs for each renamed entity, because it may have been split: one with each new entity that no
// old entity became. It returns none for an entity whose new name has = before it.
func splits(is *model.Model, known map[*model.Entity]*pair, renames Renames) map[*model.Entity][]*pair {
	taken := map[*model.Entity]bool{}
	for _, pr := range known {
		taken[pr.is] = true
	}
	all := map[*model.Entity][]*pair{}
	for a, pr := range known {
		if _, whole, said := renames.of(a.Name); !said || whole || pr.is.Name == a.Name {
			continue
		}
		for _, b := range is.Entities {
			if !taken[b] {
				all[a] = append(all[a], &pair{a, b, fieldsFrom(a, b)})
			}
		}
	}
	return all
}

// A fit says how well an item fits the form of an entity.
type fit struct {
	key bool // the item's key has the form of the entity's key
	// differs is the number of attributes that only the item or only the entity has.
	differs int
}

// fits says how well an item of the old version fits the new entity. ok is false if the item cannot belong to the
// entity.
func (pr *pair) fits(it *dataset.Item) (f fit, ok bool) {
	b := pr.is
	f.key = it.Table.Name == b.Table.Name
	own := true // the old entity has all fields of the new one
	for _, field := range b.Fields {
		own = own && pr.was.Field(field.Name) != nil
	}
	for _, t := range b.Attributes {
		v := it.Attributes.Get(t.Name)
		inKey := b.Table.Has(t.Name)
		switch {
		case v.Kind() == 0 && !inKey:
			f.differs++
		case v.Kind() != 0 && !t.Produces(v):
			if !inKey && (t.Template == nil || len(t.Template.Components()) == 0) {
				return f, false // the entity has another constant there
			}
			f.key = f.key && !inKey
		}
	}
	for name := range it.Attributes.All() {
		if b.Attribute(string(name)) == nil {
			f.differs++
		}
	}

	for name, value := range b.FieldsOf(it.Attributes) {
		if field := b.Field(name); field != nil && len(field.Values) > 0 && !slices.Contains(field.Values, value) {
			return f, false
		}
	}
	return f, f.key || own
}

// sameKeys reports whether two entities build equal keys in the same table. The names of fields may differ.
func sameKeys(a, b *model.Entity) bool {
	if a.Table.Name != b.Table.Name || attributesText(a.Table.Keys(), nil) != attributesText(b.Table.Keys(), nil) {
		return false
	}
	from := map[string]string{}
	for _, k := range a.Table.Keys() {
		if !aligned(a.Attribute(k.Name), b.Attribute(k.Name), true, from) {
			return false
		}
	}
	return true
}

// aligned reports whether two templates have components of the same types in the same order and, if exact is true,
// the same literals. Constants must be equal. For each component of t, aligned sets the entry of from to the
// component of s in the same place. It returns false if the entry already names another component.
func aligned(s, t *model.Template, exact bool, from map[string]string) bool {
	switch {
	case s == nil || t == nil:
		return s == nil && t == nil
	case s.Kind != t.Kind:
		return false
	case s.Template == nil || t.Template == nil:
		return s.Template == nil && t.Template == nil && attr.Equal(s.Const, t.Const)
	}
	same := func(p, q keys.Part) bool {
		return (p.Name == "") == (q.Name == "") && (p.Literal == q.Literal || !exact) &&
			p.Type.String() == q.Type.String()
	}
	old, made := s.Template.Parts(), t.Template.Parts()
	if !slices.EqualFunc(old, made, same) {
		return false
	}

	for i := range made {
		if name := made[i].Name; name != "" {
			if known, ok := from[name]; ok && known != old[i].Name {
				return false
			}
			from[name] = old[i].Name
		}
	}
	return true
}

// fieldsFrom maps the fields of b, the new version of an entity, to the fields of a. Fields of the same name
// correspond. A new field corresponds to a field that is gone if both have the same place in a template.
func fieldsFrom(a, b *model.Entity) map[string]string {
	from := map[string]string{}
	for _, f := range b.Fields {
		if a.Field(f.Name) != nil {
			from[f.Name] = f.Name
		}
	}
	for _, exact := range []bool{true, false} {
		found, differ := map[string]string{}, map[string]bool{}
		for i, t := range b.Attributes {
			places := map[string]string{}
			if !aligned(counterpart(a, b, b.Attributes[i].Name), t, exact, places) {
				continue
			}
			for name, old := range places {
				if from[name] != "" || b.Field(old) != nil {
					continue // one of the two fields exists in both versions
				}
				if known := found[name]; known != "" && known != old {
					differ[name] = true
				}
				found[name] = old
			}
		}

		taken := map[string]int{}
		for _, old := range from {
			taken[old]++
		}
		for name, old := range found {
			if !differ[name] {
				taken[old]++
			}
		}
		for name, old := range found {
			if !differ[name] && taken[old] == 1 {
				from[name] = old
			}
		}
	}
	return from
}

// counterpart returns the template of a that corresponds to the named attribute of b. It is the attribute of the same
// name, or else the attribute in the same place of the table key.
func counterpart(a, b *model.Entity, name string) *model.Template {
	if t := a.Attribute(name); t != nil {
		return t
	}
	in := func(is, was []model.Attribute) bool { return len(is) == 1 && len(was) == 1 && is[0].Name == name }
	switch was, is := a.Table, b.Table; {
	case in(is.Partition, was.Partition):
		return a.Attribute(was.Partition[0].Name)
	case in(is.Sort, was.Sort):
		return a.Attribute(was.Sort[0].Name)
	}
	return nil
}

// replacement returns the reason why a new table must replace table a. It returns "" if a can be changed to b.
func replacement(a, b *model.Table) string {
	if attributesText(a.Partition, a.Sort) != attributesText(b.Partition, b.Sort) {
		return "the key of a table cannot change"
	}
	for _, lists := range [][2]*model.Table{{a, b}, {b, a}} {
		for _, x := range lists[0].Indexes {
			if x.Local && indexText(x) != indexText(lists[1].Index(x.Name)) {
				return "a local index is created with its table"
			}
		}
	}
	return ""
}
