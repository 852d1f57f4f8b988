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

// Renames maps entities and tables that the new version does not have to their new names. "" means that their items
// are to be deleted. If an entity is split, its items with the form of another new entity become items of that
// entity. A name that begins with = prevents that, so that all items get the given entity.
type Renames map[string]string

// of returns the new name of an entity or a table. all is true if the name began with =, and said is true if r has
// the old name.
func (r Renames) of(old string) (made string, all, said bool) {
	made, said = r[old]
	rest, all := strings.CutPrefix(made, "=")
	return rest, all, said
}

// check returns an error if r has a name that the old or the new version does not have.
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

// A pair is an entity of the old version with the one that it became in the new version.
type pair struct {
	was, is *model.Entity
	// from maps fields of the new version to fields of the old one.
	from map[string]string
}

// pairs pairs the entities of the old version with those of the new one: by the name that renames give, or else by
// the same name. If as many of the rest are gone as are new, pairs also pairs two of them that have equal keys, if no
// third one has.
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
		return all // one may have been split, or may have left its keys to another
	}
	for _, a := range gone {
		if made := like(fresh, a); len(made) == 1 && len(like(gone, made[0])) == 1 {
			join(a, made[0])
		}
	}
	return all
}

// splits pairs each renamed entity with the other new entities that can have some of its items, because the entity
// may have been split.
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
	key bool // the item has a key of the entity
	// differs is the number of attributes that only the item or only the entity has.
	differs int
}

// fits returns how well an item of the old version fits the new entity. It returns false if the item cannot belong to
// it.
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
				return f, false // the attribute has another constant
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

// aligned reports whether two templates have components of the same types in the same order. If exact, the literals
// must be equal too. aligned maps the components of t to those of s in from. It returns false if from already maps
// one to another component.
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
// correspond. A new field corresponds to one that is gone if both have the same place in a template.
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
					continue // one of the fields keeps its name
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

// counterpart returns the attribute of a that corresponds to an attribute of b: the one of the same name, or that in
// the same place of the table key.
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

// replacement returns the reason why table a cannot be changed to b and needs a new table, or "" if it can.
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
