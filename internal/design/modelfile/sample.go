package modelfile

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
)

// samplesCodec is the codec of the samples of an entity.
var samplesCodec = special(func(in value, d *draft) {
	for _, s := range in.list() {
		s.sample(&d.Entity)
	}
}, func(d *draft) *yaml.Node {
	if len(d.Samples) == 0 {
		return nil
	}
	return listNode(0, d.Samples, d.sampleNode)
})

// sampleNode returns the node of a sample: the values of the fields in the order of the entity, then the other
// attributes.
func (d *draft) sampleNode(s *model.Sample) *yaml.Node {
	n := flowNode()
	names := slices.Concat(namesOf(d.Entity.Fields), slices.Sorted(maps.Keys(s.Values)))
	for i, name := range names {
		if v, ok := s.Values[name]; ok && !slices.Contains(names[:i], name) {
			put(n, name, textNode(v))
		}
	}
	n.Content = append(n.Content, itemNode(s.Attributes).Content...)
	return n
}

// Names returns the names of the fields and of the attributes of an entity.
func Names(e *model.Entity) []string {
	return append(namesOf(e.Fields), namesOf(e.Attributes)...)
}

// sample reads a sample and checks that its item can be built.
func (in value) sample(e *model.Entity) {
	if e.Table == nil {
		return
	}

	s := &model.Sample{Pos: in.pos(), Values: map[string]string{}}
	kinds := e.Table.Kinds()
	for _, t := range e.Attributes {
		kinds[t.Name] = t.Kind
	}
	known := Names(e)

	var b attr.Builder
	before := len(in.errs)
	for _, m := range in.called("a sample of " + e.Name).entries() {
		if f := e.Field(m.name); f != nil {
			if v, ok := m.called("field " + m.name).text(); ok {
				s.Values[m.name] = v
				if _, err := f.Type.Encode(v); err != nil && !in.broken[e] {
					in.failKey(m.pos(), "field "+m.name, err)
				}
			}
			continue
		}
		if like := Similar(m.name, known); like != "" && !slices.Contains(known, m.name) {
			m.key.fail(
				"did you mean "+like+"? If not, declare it in fields",
				"entity %s has neither a field nor an attribute %s", e.Name, clip(m.name),
			)
			continue
		}
		if v, ok := m.attribute(kinds[m.name]); ok {
			b.Add(m.name, v)
		}
	}

	s.Attributes = b.Item()
	e.Samples = append(e.Samples, s)
	if len(in.errs) > before || in.broken[e] {
		return
	}
	if _, err := e.ItemWith(s.Values, s.Attributes); err != nil {
		in.failAt(s.Pos, "", "sample of %s: %s", e.Name, model.KeyError(err))
	}
}

// itemsCodec is the codec of the items of a model, by table.
var itemsCodec = special(
	func(in value, m *model.Model) {
		for _, of := range in.entries() {
			if !of.key.known(of.name, namesOf(in.m.Tables), "unknown table %s") {
				continue
			}
			for _, e := range of.called("the items of " + of.name).list() {
				e.called("an item of " + of.name).rawItem(m.Table(of.name))
			}
		}
	},
	func(m *model.Model) *yaml.Node {
		all := &yaml.Node{Kind: yaml.MappingNode}
		for _, t := range m.Tables {
			of := slices.DeleteFunc(slices.Clone(m.Items), func(r *model.RawItem) bool { return r.Table != t })
			if len(of) > 0 {
				put(all, t.Name, listNode(0, of, func(r *model.RawItem) *yaml.Node { return itemNode(r.Item) }))
			}
		}
		if len(all.Content) == 0 {
			return nil
		}
		return all
	},
)

// rawItem reads an item that belongs to no entity.
func (in value) rawItem(t *model.Table) {
	it, ok := in.item(t.Kinds())
	if !ok || in.node == nil {
		return
	}
	for _, a := range t.Keys() {
		if it.Get(a.Name).Kind() != a.Kind {
			in.fail("", "the item has no %s, a key of table %s", a.Name, t.Name)
			ok = false
		}
	}
	if ok {
		in.m.Items = append(in.m.Items, &model.RawItem{Pos: in.pos(), Table: t, Item: it})
	}
}
