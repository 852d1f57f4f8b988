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

// Renames say what became of entities and tables of the old version that the new one does not have: their
// new names, or "" if what they hold is to be deleted. Items of an entity that have the form of another new
// entity become items of that one, unless the name begins with =, which is for all items.
type Renames map[string]string

// of returns the new name of an entity or a table, whether it is for all items, and whether there is one.
func (r Renames) of(old string) (made string, all, said bool) {
	made, said = r[old]
	rest, all := strings.CutPrefix(made, "=")
	return rest, all, said
}

// check returns an error for a name that a version does not have.
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

// A pair is an entity of the old version with what became of it.
type pair struct {
	was, is *model.Entity
	// from has the field of the old version that each field of the new one is, if there is one.
	from map[string]string
}

// pairs returns the entities of the old version that the new one has too: under the same name, under the name
// that renames give, or for the only one that is gone and has the keys of the only one that is new, if as many are
// gone as are new.
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
		return all // one may have been split, or one that is gone may have left its keys to another
	}
	for _, a := range gone {
		if made := like(fresh, a); len(made) == 1 && len(like(gone, made[0])) == 1 {
			join(a, made[0])
		}
	}
	return all
}

// splits returns, for each entity that has a new name, the pairs of it with the other new entities that can have
// some of its items: an entity can be split in two.
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

// A fit says how well an item has the form of an entity.
type fit struct {
	key bool // it has the key already
	// differs is the number of attributes that it lacks or has besides.
	differs int
}

// fits reports how well an item of the old version has the form of the new entity, and false if it cannot be one.
func (pr *pair) fits(it *dataset.Item) (f fit, ok bool) {
	b := pr.is
	f.key = it.Table.Name == b.Table.Name
	own := true // all fields are of the old entity
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
				return f, false // another constant
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

// sameKeys reports whether two entities make the same keys of the same table, whatever the names of fields.
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

// aligned reports whether two templates have the same components in the same order, and if exact, the same
// text between them. It adds the names of the components of s by those of t to from, and reports false where
// from has another already.
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

// fieldsFrom returns the field of the old version of an entity that each field of the new one is: that of the
// same name, or where one is gone and one is new, the one at the same place of a template.
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
					continue // one of them is not renamed
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

// counterpart returns the attribute of the old version of an entity in the place of one of the new: the one of
// the same name, or the key of the table.
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

// replacement says why a table of the old version cannot become one of the new, or is "".
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
