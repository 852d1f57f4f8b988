package console

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// A lead is where an attribute of an item leads, by a model: to the item of another entity whose key it has, or to the
// partition of an index.
type lead struct {
	Entity, Text, Link string
	attribute          string // that has the key, or ""
}

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
		f.add(to)
	}
	all = append(f.items, f.partitions...)
	return e, all[:min(len(all), maxLeads)]
}

// A finder finds where an item leads.
type finder struct {
	entity *model.Entity
	item   attr.Item
	values map[string]string

	items, partitions []lead // so far
}

// add adds where the item leads to an entity, unless it is there already.
func (f *finder) add(to *model.Entity) {
	if to == f.entity {
		return
	}
	all := &f.items
	one, ok := f.toItem(to)
	if !ok {
		all = &f.partitions
		one, ok = f.toPartition(to)
	}
	if ok && !slices.ContainsFunc(*all, func(have lead) bool { return have.Link == one.Link }) {
		*all = append(*all, one)
	}
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
	var own []string
	for _, field := range fields {
		if !f.known(field) {
			return one, false
		}
		values[field.Name] = f.values[field.Name]
		if to.CarriedFrom(field) == nil {
			own = append(own, field.Name)
		}
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
	one = lead{
		Entity: to.Name, Text: clip(valuesText(key, keys), maxKey),
		Link: "item?" + query("name", to.Table.Name, "key", cursorText(key)),
	}
	for _, t := range f.entity.Attributes {
		if f.isFree(t) && hasAll(t.Template.Components(), own) {
			one.attribute = t.Name
			break
		}
	}
	return one, true
}

// isFree reports whether the item has an attribute with components, which is not in its own key: the cells of that lead
// to the item.
func (f *finder) isFree(t *model.Template) bool {
	return t.Template != nil && len(t.Template.Components()) > 0 && !f.entity.Table.Has(t.Name) &&
		!f.item.Get(t.Name).IsZero()
}

func hasAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(all, one) })
}

// toPartition returns the lead to the partition of a table or an index in which items of an entity are, and whose key
// is a value of the item.
func (f *finder) toPartition(to *model.Entity) (one lead, ok bool) {
	spaces := []*model.Index{{Partition: to.Table.Partition}}
	for _, x := range to.Table.Indexes {
		if !x.Local && len(x.Partition) == 1 {
			spaces = append(spaces, x)
		}
	}
	for _, x := range spaces {
		key := to.Attribute(x.Partition[0].Name)
		if key == nil || key.Template == nil || key.Kind != attr.String || len(key.Template.Components()) == 0 {
			continue
		}
		t := f.like(to, key)
		own := x.Name == "" && to.Table == f.entity.Table
		if t == nil || own && attr.Equal(f.item.Get(t.Name), f.item.Get(key.Name)) { // the item is there itself
			continue
		}
		var b attr.Builder
		b.Add(key.Name, f.item.Get(t.Name))
		typed := askText(b.Item(), x.Partition)
		one = lead{
			Entity: to.Name, Text: typed,
			Link: "collection?" + query("name", to.Table.Name, "index", x.Name, "partition", typed),
		}
		if x.Name != "" {
			one.Text += " in " + x.Name
		}
		one.Text = clip(text.Visible(one.Text), maxKey)
		if f.isFree(t) {
			one.attribute = t.Name
		}
		return one, true
	}
	return one, false
}

// like returns the attribute of the item that is made as the partition key of an entity, of the same fields, or nil:
// rather one whose cell does not lead to the item.
func (f *finder) like(to *model.Entity, key *model.Template) (best *model.Template) {
	for _, t := range f.entity.Attributes {
		there := t.Name == key.Name && to.Table == f.entity.Table // the item is in that partition itself
		if there || t.Template == nil || t.Template.String() != key.Template.String() {
			continue
		}
		shared := func(name string) bool {
			field := f.entity.Field(name)
			return field != nil && slices.Contains(to.Fields, field)
		}
		all := !slices.ContainsFunc(t.Template.Components(), func(name string) bool { return !shared(name) })
		if all && f.item.Get(t.Name).Kind() == key.Kind && (best == nil || f.isFree(t)) {
			best = t
		}
	}
	return best
}
