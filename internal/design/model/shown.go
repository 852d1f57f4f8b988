package model

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// A ShownParent is an entity to which the items of another belong, as their keys show: these have
// the components that tell the parent's items apart, and more.
type ShownParent struct {
	*Entity
	// Fields are the components in both keys.
	Fields []*Field
	// Items is the number of the parent's items, and Distinct that of their different values of
	// the fields.
	Items, Distinct int
	// Per is how many items belong to each of those values, in ascending order. Orphan is the
	// first item that belongs to no item of the parent, and Orphans the number of such items.
	Per     []int
	Orphan  Values
	Orphans int
}

// Values are the values of an item by field, "" for one that it lacks.
type Values interface{ Get(field string) string }

// ShownParents returns the entities to which the items of e belong, as their keys show, beside those
// that the model declares: the nearest ones, so that there are two parents at most. Fit reports
// whether an entity is one, from its items and those of e.
func (m *Model) ShownParents(
	e *Entity, items func(*Entity) iter.Seq[Values], fit func(*ShownParent) bool,
) (all []*ShownParent) {
	keyed := e.KeyedFields()
	carried := func(f *Field) bool { return e.CarriedFrom(f) != nil }
	for _, p := range m.Entities {
		fields := slices.DeleteFunc(p.KeyFields(), func(f *Field) bool {
			return !slices.Contains(keyed, f) || !p.Gives(f, e)
		})
		if p == e || slices.Contains(p.Ancestors(), e) || !tells(p, e, fields) ||
			!slices.ContainsFunc(fields, func(f *Field) bool { return !carried(f) }) {
			continue
		}
		s := &ShownParent{Entity: p, Fields: fields}
		s.count(items(p), items(e))
		if fit(s) {
			all = append(all, s)
		}
	}

	nearer := func(s, than *ShownParent) bool {
		return len(s.Fields) > len(than.Fields) && contains(s.Fields, than.Fields)
	}
	var nearest []*ShownParent
	for _, s := range all {
		if !slices.ContainsFunc(all, func(o *ShownParent) bool { return nearer(o, s) }) {
			nearest = append(nearest, s)
		}
	}
	return nearest[:min(len(nearest), 2-min(len(e.Parents), 2))]
}

// tells reports whether fields in the key of a parent tell its items apart, and e has more in its key:
// they are the whole key, or the last of them has the name of the parent, as order in the key of
// Order. It is neither a time nor one of a few values.
func tells(parent, e *Entity, fields []*Field) bool {
	keys := parent.KeyFields()
	if len(fields) == 0 || contains(keys, e.KeyFields()) {
		return false
	}
	last := keys[len(keys)-1]
	if !contains(fields, keys) && (!slices.Contains(fields, last) || !names(last.Name, parent.Name)) {
		return false
	}
	return slices.ContainsFunc(fields, func(f *Field) bool {
		return !Moment(f.Type) && len(f.Values) == 0 && len(f.Type.Values) == 0
	})
}

// names reports whether a field has the name of an entity, as order_id that of Order.
func names(field, entity string) bool {
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if !unicode.IsLetter(r) {
				return -1
			}
			return unicode.ToLower(r)
		}, s)
	}
	field, entity = letters(field), letters(entity)
	for _, suffix := range []string{"id", "number", "no", "code", "key"} {
		if rest, ok := strings.CutSuffix(field, suffix); ok && rest != "" && strings.HasSuffix(entity, rest) {
			return true
		}
	}
	return field != "" && strings.HasSuffix(entity, field)
}

func contains(all, some []*Field) bool {
	return !slices.ContainsFunc(some, func(f *Field) bool { return !slices.Contains(all, f) })
}

// count compares the items of the parent with those that may belong to them.
func (s *ShownParent) count(parents, children iter.Seq[Values]) {
	var b strings.Builder
	key := func(v Values) string {
		b.Reset()
		for _, f := range s.Fields {
			b.WriteString(v.Get(f.Name))
			b.WriteByte(0)
		}
		return b.String()
	}

	per := map[string]int{}
	for v := range parents {
		s.Items++
		per[key(v)] = 0
	}

	s.Distinct = len(per)
	for v := range children {
		id := key(v)
		if _, ok := per[id]; ok {
			per[id]++
			continue
		}
		if s.Orphans++; s.Orphan == nil {
			s.Orphan = v
		}
	}

	s.Per = slices.Sorted(maps.Values(per))
}
