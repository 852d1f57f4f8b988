package diff

import (
	"maps"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
)

// mostTries limits the keys that examples tries for one example.
const mostTries = 8

// examples sets p.olds, the items from which the planner makes the plan. These are the items of the old dataset, and
// examples of other items that a program may write. There is an example of each entity without items. If an entity of
// either version has an item in a partition, there is also an example of each other entity that can have items there.
func (p *planner) examples() {
	p.olds = slices.Clip(p.was.Dataset.Items)
	places := map[string]bool{}
	for i := range p.olds {
		places[place(p.olds[i].Table, p.olds[i].Attributes)] = true
	}
	first := firsts(p.was.Dataset)
	add := func(e *model.Entity, given map[string]string) {
		own := slices.IndexFunc(first, func(it *dataset.Item) bool { return it.Entity == e })
		if own < 0 {
			return
		}
		for n := range uint64(mostTries) {
			values := first[own].Values.Map()
			if n > 0 { // another item has the key, so try the next example
				for _, f := range e.KeyFields() {
					if v, err := dataset.Example(f, n); err == nil {
						values[f.Name] = v
					}
				}
			}
			maps.Copy(values, given)
			it, err := e.Item(values)
			if err != nil {
				return // the entity cannot have the given values
			}
			if id := place(e.Table, it); !places[id] {
				places[id] = true
				p.olds = append(p.olds, dataset.Item{
					Table: e.Table, Entity: e, Values: dataset.ValuesOf(values), Attributes: it,
				})
				return
			}
		}
	}
	for _, it := range first {
		if !places[place(it.Table, it.Attributes)] {
			add(it.Entity, nil)
		}
	}

	old, made := p.was.Dataset.Model, p.is.Dataset.Model
	models := []*model.Model{old, made}
	items := slices.Concat(first, firsts(p.is.Dataset))
	neighbours(old, models, items, add)
	neighbours(made, models, items, func(e *model.Entity, values map[string]string) {
		for _, a := range old.Entities {
			pr := p.pairs[a]
			if pr == nil || pr.is != e {
				continue
			}
			given := map[string]string{}
			for name, v := range values {
				if old := pr.from[name]; old != "" {
					given[old] = v
				}
			}
			add(a, given)
		}
	})
}

// firsts returns the first item of each entity of a dataset. For an entity without items, it returns an example, if
// it can make one.
func firsts(w *dataset.Dataset) (all []*dataset.Item) {
	for _, e := range w.Model.Entities {
		if i := slices.IndexFunc(w.Items, func(it dataset.Item) bool { return it.Entity == e }); i >= 0 {
			all = append(all, &w.Items[i])
			continue
		}
		values := map[string]string{}
		for _, f := range e.Fields {
			if v, err := dataset.Example(f, 0); err == nil {
				values[f.Name] = v
			}
		}
		if it, err := e.Item(values); err == nil {
			all = append(all, &dataset.Item{
				Table: e.Table, Entity: e, Values: dataset.ValuesOf(values), Attributes: it,
			})
		}
	}
	return all
}

// neighbours finds the entities of m that can have an item in a partition of one of the items. It calls f with each
// such entity and the field values that put an item there. The partition is one of the entity's table, or of a global
// index that one of the models declares for the table.
func neighbours(
	m *model.Model, models []*model.Model, items []*dataset.Item, f func(e *model.Entity, values map[string]string),
) {
	for _, e := range m.Entities {
		for _, other := range models {
			t := other.Table(e.Table.Name)
			if t == nil {
				continue
			}
			partitions := [][]model.Attribute{t.Partition}
			for _, x := range t.Indexes {
				if !x.Local {
					partitions = append(partitions, x.Partition)
				}
			}
			for _, it := range items {
				if it.Table.Name != t.Name || it.Entity == e {
					continue
				}
				for _, partition := range partitions {
					if values, ok := within(e, partition, it.Attributes); ok {
						f(e, values)
					}
				}
			}
		}
	}
}

// within returns the field values with which an item of e has the same values as other in the given attributes. It
// returns false if the templates of e do not allow that.
func within(e *model.Entity, attributes []model.Attribute, other attr.Item) (map[string]string, bool) {
	all := map[string]string{}
	for _, a := range attributes {
		t, v := e.Attribute(a.Name), other.Get(a.Name)
		switch {
		case t == nil || v.Kind() != a.Kind || t.Kind != a.Kind:
			return nil, false
		case t.Template == nil:
			if !attr.Equal(t.Const, v) {
				return nil, false
			}
			continue
		}
		values, ok := t.Template.Match(model.TextOf(v))
		if !ok {
			return nil, false
		}
		maps.Copy(all, values)
	}
	return all, true
}
