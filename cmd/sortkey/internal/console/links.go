package console

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
)

// A lead is where an item leads, by a model: to the item of another entity whose key it has.
type lead struct{ Entity, Text, Link string }

// maxLeads is the number of leads of an item.
const maxLeads = 20

// entityOf returns the entity of an item, or nil.
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

// leads returns where an item leads, and its entity, which is nil without a model. Nothing is read: what it leads to
// may not be there.
func (s *Server) leads(table string, it attr.Item) (e *model.Entity, all []lead) {
	m, e := s.entityOf(table, it)
	if e == nil {
		return nil, nil
	}
	f := finder{entity: e, item: it, values: e.FieldsOf(it)}
	for _, to := range slices.Concat(e.Ancestors(), m.Entities) {
		one, ok := f.toItem(to)
		if ok && to != e && !slices.ContainsFunc(all, func(have lead) bool { return have.Link == one.Link }) {
			all = append(all, one)
		}
	}
	return e, all[:min(len(all), maxLeads)]
}

// A finder finds where an item leads.
type finder struct {
	entity *model.Entity
	item   attr.Item
	values map[string]string
}

// known reports whether the item has a value of a field.
func (f *finder) known(field *model.Field) bool {
	return slices.Contains(f.entity.Fields, field) && f.values[field.Name] != ""
}

// toItem returns the lead to the item of an entity whose key the item determines.
func (f *finder) toItem(to *model.Entity) (one lead, ok bool) {
	fields := to.KeyFields()
	if len(fields) == 0 {
		return one, false
	}
	values := map[string]string{}
	for _, field := range fields {
		if !f.known(field) {
			return one, false
		}
		values[field.Name] = f.values[field.Name]
	}
	made, err := to.Item(values)
	if err != nil {
		return one, false
	}

	keys := to.Table.Keys()
	var b attr.Builder
	for _, a := range keys {
		b.Add(a.Name, made.Get(a.Name))
	}
	key := b.Item()
	if to.Table == f.entity.Table && !slices.ContainsFunc(keys, func(a model.Attribute) bool {
		return !attr.Equal(key.Get(a.Name), f.item.Get(a.Name))
	}) {
		return one, false // it is the item itself
	}
	return lead{
		Entity: to.Name, Text: clip(valuesText(key, keys), maxKey),
		Link: "item?" + query("name", to.Table.Name, "key", cursorText(key)),
	}, true
}
