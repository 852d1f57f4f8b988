package model

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
)

// Classify returns the entity of an item of t, or nil. The templates of an entity must match the item's table keys,
// and the item must have the entity's constant attributes. If several entities match, Classify chooses by these
// criteria, in this order: templates that also match the item's index keys, the most literal text in the table keys,
// the most typed components, and the first place in the model. An item read from an index may lack attributes and
// then match more entities.
func (m *Model) Classify(t *Table, it attr.Item) *Entity { return classify(m.Entities, t, it) }

func classify(entities []*Entity, t *Table, it attr.Item) *Entity {
	var best *Entity
	var bestFits bool
	var bestText, bestTyped int
	for _, e := range entities {
		if e.Table != t || !e.is(it) {
			continue
		}
		fits := e.fitsIndexes(it)
		text, typed := e.literals()
		if best != nil {
			switch {
			case fits != bestFits:
				if bestFits {
					continue
				}
			case text < bestText, text == bestText && typed <= bestTyped:
				continue
			}
		}
		best, bestFits, bestText, bestTyped = e, fits, text, typed
	}
	return best
}

// EntityName returns the name of the entity of an item of the named table, or "".
func (m *Model) EntityName(table string, it attr.Item) string {
	if t := m.Table(table); t != nil {
		if e := m.Classify(t, it); e != nil {
			return e.Name
		}
	}
	return ""
}

// Classifier returns a function that works like [Model.EntityName] and is faster for many items: it compares an item
// only with the entities whose partition key begins with the same text. Call Classifier again after a change of the
// model.
func (m *Model) Classifier() func(table string, it attr.Item) string {
	type start struct {
		table *Table
		text  string
	}
	with, lengths := map[start][]int{}, map[int]bool{} // indexes in m.Entities
	for i, e := range m.Entities {
		at := start{e.Table, e.beginning()}
		with[at], lengths[len(at.text)] = append(with[at], i), true
	}
	return func(table string, it attr.Item) string {
		t := m.Table(table)
		if t == nil {
			return ""
		}
		var numbers []int
		text := TextOf(it.Get(t.Partition[0].Name))
		for n := range lengths {
			if n <= len(text) {
				numbers = append(numbers, with[start{t, text[:n]}]...)
			}
		}
		slices.Sort(numbers)
		var entities []*Entity
		for _, i := range numbers {
			entities = append(entities, m.Entities[i])
		}
		if e := classify(entities, t, it); e != nil {
			return e.Name
		}
		return ""
	}
}

// beginning returns the literal text at the beginning of the partition key of e.
func (e *Entity) beginning() string {
	t := e.Attribute(e.Table.Partition[0].Name)
	if t == nil || t.Template == nil || t.Kind != attr.String {
		return ""
	}
	return t.Template.Parts()[0].Literal
}

// fitsIndexes reports whether every index key attribute of the item matches a template of e.
func (e *Entity) fitsIndexes(it attr.Item) bool {
	for x, a := range e.Table.AllKeys() {
		v := it.Get(a.Name)
		if x == nil || v.Kind() == 0 {
			continue
		}
		if t := e.Attribute(a.Name); t == nil || !t.Produces(v) {
			return false
		}
	}
	return true
}

// literals counts the literal bytes and the typed components in the table keys
// of e.
func (e *Entity) literals() (text, typed int) {
	for _, a := range e.Table.Keys() {
		t := e.Attribute(a.Name)
		if t == nil {
			continue
		}
		if t.Template == nil {
			text += t.Const.Size()
			continue
		}
		for _, p := range t.Template.Parts() {
			text += len(p.Literal)
			if p.Name != "" && p.Type.Name != "string" && p.Type.Name != "path" {
				typed++
			}
		}
	}
	return text, typed
}

// is reports whether the item can be an item of e.
func (e *Entity) is(it attr.Item) bool {
	for _, a := range e.Table.Keys() {
		t := e.Attribute(a.Name)
		if t == nil || !t.Produces(it.Get(a.Name)) {
			return false
		}
	}
	for _, t := range e.Attributes {
		v := it.Get(t.Name)
		if v.Kind() != 0 && t.constant() && !t.Produces(v) {
			return false
		}
	}
	return true
}

// constant reports whether the attribute has the same value in all items that
// have it.
func (t *Template) constant() bool {
	return t.Template == nil || len(t.Template.Components()) == 0
}

// Produces reports whether the template can produce the value.
func (t *Template) Produces(v attr.Value) bool {
	if v.Kind() != t.Kind {
		return false
	}
	if t.Template == nil {
		return attr.Equal(v, t.Const)
	}
	text := TextOf(v)
	if v.Kind() == attr.Number {
		// A number is stored without the leading zeros that a padded type writes.
		parts := t.Template.Parts()
		if len(parts) == 1 && parts[0].Name != "" {
			return true
		}
	}
	_, ok := t.Template.Match(text)
	return ok
}

// Unlike returns the names of those attributes of an item of e whose values their templates cannot produce.
func (e *Entity) Unlike(it attr.Item) (names []string) {
	for _, t := range e.Attributes {
		if v := it.Get(t.Name); v.Kind() != 0 && !t.Produces(v) {
			names = append(names, t.Name)
		}
	}
	return names
}

// FieldsOf parses the item's attributes with the templates of e and returns the values of the fields.
func (e *Entity) FieldsOf(it attr.Item) map[string]string {
	values := map[string]string{}
	for _, t := range e.Attributes {
		v := it.Get(t.Name)
		if t.Template == nil || v.Kind() != t.Kind {
			continue
		}
		found, ok := t.Template.Match(TextOf(v))
		if !ok {
			continue
		}
		for _, name := range t.Template.Components() {
			if _, have := values[name]; !have {
				values[name] = found[name]
			}
		}
	}
	return values
}

// IsKey reports whether the named attribute is in a key of the table or of one
// of its indexes.
func (t *Table) IsKey(name string) bool {
	for _, a := range t.AllKeys() {
		if a.Name == name {
			return true
		}
	}
	return false
}
