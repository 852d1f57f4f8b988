package console

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
)

// A lead is a link from an item to an item of another entity, whose key can be made from the values of the first
// item. The model has the template of that key.
type lead struct{ Entity, Text, Link string }

// maxLeads is the maximum number of leads of an item.
const maxLeads = 20

// entityOf returns the entity of an item, and the first model that has such an entity. If no model has one, both are
// nil.
func (s *Server) entityOf(table string, it attr.Item) (*model.Model, *model.Entity) {
	for _, m := range s.opts.Models {
		if t := m.Table(table); t != nil {
			if e := m.Classify(t, it); e != nil {
				return m, e
			}
		}
	}
	return nil, nil
}

// leads returns the entity of an item, and its links to other items. If no model knows the entity, both are nil. The
// other items may not exist, because leads does not read them.
func (s *Server) leads(table string, it attr.Item) (e *model.Entity, all []lead) {
	m, e := s.entityOf(table, it)
	if e == nil {
		return nil, nil
	}
	values := e.FieldsOf(it)
	unknown := func(field *model.Field) bool {
		return !slices.Contains(e.Fields, field) || values[field.Name] == ""
	}
	for _, to := range slices.Concat(e.Ancestors(), m.Entities) {
		fields := to.KeyFields()
		if to == e || len(fields) == 0 || slices.ContainsFunc(fields, unknown) {
			continue
		}
		made, err := to.Item(values)
		if err != nil {
			continue
		}
		var b attr.Builder
		for _, a := range to.Table.Keys() {
			b.Add(a.Name, made.Get(a.Name))
		}
		key := b.Item()
		one := lead{
			Entity: to.Name, Text: clip(valuesText(key, to.Table.Keys()), maxKey),
			Link: "item?" + query("name", to.Table.Name, "key", cursorText(key)),
		}
		itself := to.Table == e.Table && !slices.ContainsFunc(to.Table.Keys(), func(a model.Attribute) bool {
			return !attr.Equal(key.Get(a.Name), it.Get(a.Name))
		})
		if !itself && !slices.ContainsFunc(all, func(have lead) bool { return have.Link == one.Link }) {
			all = append(all, one)
		}
	}
	return e, all[:min(len(all), maxLeads)]
}
