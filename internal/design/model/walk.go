package model

import (
	"iter"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keys"
)

// AllKeys yields the key attributes of a table with a nil index, and then those of each of its indexes.
func (t *Table) AllKeys() iter.Seq2[*Index, Attribute] {
	return func(yield func(*Index, Attribute) bool) {
		each := func(x *Index, lists ...[]Attribute) bool {
			for _, list := range lists {
				for _, a := range list {
					if !yield(x, a) {
						return false
					}
				}
			}
			return true
		}
		more := each(nil, t.Partition, t.Sort)
		for _, x := range t.Indexes {
			more = more && each(x, x.Partition, x.Sort)
		}
	}
}

// AttributesIn calls each for every attribute that items of the table can have: those of its entities, of their
// samples, and of the items without an entity. It may call each several times for one attribute.
func (m *Model) AttributesIn(t *Table, each func(name string, kind attr.Kind)) {
	item := func(it attr.Item) {
		for name, v := range it.All() {
			each(string(name), v.Kind())
		}
	}
	for _, e := range m.Entities {
		if e.Table != t {
			continue
		}
		for _, a := range e.Attributes {
			each(a.Name, a.Kind)
		}
		for _, s := range e.Samples {
			item(s.Attributes)
		}
	}
	for _, r := range m.Items {
		if r.Table == t {
			item(r.Item)
		}
	}
}

// Parts yields the components in the templates of the listed attributes of an entity.
func (e *Entity) Parts(list []Attribute) iter.Seq2[*Template, keys.Part] {
	return func(yield func(*Template, keys.Part) bool) {
		for _, a := range list {
			if t := e.Attribute(a.Name); t != nil && !t.parts(yield) {
				return
			}
		}
	}
}

// AllParts yields the components of all templates of an entity.
func (e *Entity) AllParts() iter.Seq2[*Template, keys.Part] {
	return func(yield func(*Template, keys.Part) bool) {
		for _, t := range e.Attributes {
			if !t.parts(yield) {
				return
			}
		}
	}
}

func (t *Template) parts(yield func(*Template, keys.Part) bool) bool {
	if t.Template == nil {
		return true
	}
	for _, part := range t.Template.Parts() {
		if part.Name != "" && !yield(t, part) {
			return false
		}
	}
	return true
}

// KeyFields returns the fields in the key of the entity's table, in the order of the key.
func (e *Entity) KeyFields() []*Field { return e.fields(e.Parts(e.Table.Keys())) }

// KeyedFields returns the fields in the keys of the entity's table and of its indexes, in the order of the attributes.
func (e *Entity) KeyedFields() []*Field {
	return e.fields(func(yield func(*Template, keys.Part) bool) {
		for t, part := range e.AllParts() {
			if e.Table.IsKey(t.Name) && !yield(t, part) {
				return
			}
		}
	})
}

// fields returns the fields that are components of the parts, each once.
func (e *Entity) fields(parts iter.Seq2[*Template, keys.Part]) (all []*Field) {
	for _, part := range parts {
		if f := e.Field(part.Name); f != nil && !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all
}

// ComponentsOf returns the names of the fields in the templates of the listed key attributes.
func (e *Entity) ComponentsOf(list []Attribute) map[string]bool {
	all := map[string]bool{}
	for _, part := range e.Parts(list) {
		all[part.Name] = true
	}
	return all
}

// Writes yields every write of an item of e, with its pattern.
func (m *Model) Writes(e *Entity) iter.Seq2[*Pattern, *Write] {
	return func(yield func(*Pattern, *Write) bool) {
		for _, p := range m.Patterns {
			for i := range p.Writes {
				if w := &p.Writes[i]; w.Entity == e && !yield(p, w) {
					return
				}
			}
		}
	}
}
