package model

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// A ShownParent is an entity that appears to be a parent of another, the child: the child's keys contain the
// components that identify the parent's items, and more.
type ShownParent struct {
	*Entity
	// Fields are the components that are in both keys.
	Fields []*Field
	// Items is the number of the parent's items. Distinct is the number of different values of Fields among them.
	Items, Distinct int
	// Per has the number of the child's items for each of the Distinct values, in ascending order. Orphans counts the
	// child's items without a parent item, and Orphan is the first of them.
	Per     []int
	Orphan  Values
	Orphans int
}

// Values are the field values of an item. Get returns "" for a field that the item lacks.
type Values interface{ Get(field string) string }

// ShownParents returns the entities that are parents of e according to their keys, although the model does not
// declare them. It calls fit with the figures of each candidate's items and those of e, and keeps those that fit
// accepts. Of these, it drops an entity if another has all its fields and more, because that one is the nearer
// parent. With the declared parents, e has at most two.
func (m *Model) ShownParents(
	e *Entity, items func(*Entity) iter.Seq[Values], fit func(*ShownParent) bool,
) (all []*ShownParent) {
	keyed := e.KeyedFields()
	carried := func(f *Field) bool { return e.CarriedFrom(f) != nil }
	for _, p := range m.Entities {
		fields := slices.DeleteFunc(p.KeyFields(), func(f *Field) bool {
			return !contains(keyed, []*Field{f}) || !p.Gives(f, e)
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

// tells reports whether fields, which are in the keys of both entities, show that e belongs to parent. They must
// identify the items of parent, and e must have further fields in its key. Fields identify the items if they are the
// whole key, or if they include the last field of the key and that field is named after the parent, such as order in
// the key of Order. One of the fields must be neither a time nor limited to listed values.
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

// names reports whether a field is named after an entity, such as order_id after Order.
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

// contains reports whether all has a field with the name of each field in some. It compares names, because two
// entities can each declare a field of the same name.
func contains(all, some []*Field) bool {
	return !slices.ContainsFunc(some, func(f *Field) bool {
		return !slices.ContainsFunc(all, func(o *Field) bool { return o.Name == f.Name })
	})
}

// count sets the counts of s from the items of the parent and of the child.
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
