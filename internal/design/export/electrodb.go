package export

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

// unmarked says how to read items that another program has written. ElectroDB filters by the marks in all
// queries and gets, unless it is asked not to.
const unmarked = `ElectroDB reads only items with its own marks, __edb_e__ (the entity) and __edb_v__ (the version, ` +
	`"1"). To read items that other programs write, end queries with .go({ignoreOwnership: true}), or have these ` +
	`programs write the marks.`

// electroDB writes the schemas of ElectroDB: one for each entity, whose keys have templates.
func electroDB(d *design) ([]byte, error) {
	e := electroWriter{design: d, t: d.m.Tables[0], indexes: map[string]bool{}, keys: map[string]bool{}}
	if len(d.m.Entities) == 0 || unusable(e.t.Keys()) {
		d.lose(Tables, e.t.Name)
		return nil, nil // schemas are of entities
	}
	for _, x := range e.t.Indexes {
		if !e.carries(x) {
			d.lose(Indexes, e.t.Name+"."+x.Name)
		}
	}
	for _, name := range []string{"__edb_e__", "__edb_v__"} {
		if slices.ContainsFunc(d.m.Entities, func(e *model.Entity) bool { return e.Attribute(name) == nil }) {
			d.lose(Added, name)
			d.advice = unmarked
		}
	}

	list := []any{}
	for _, entity := range d.m.Entities {
		list = append(list, e.schema(newPlan(entity, rules{})))
	}
	for name, kind := range e.t.Kinds() {
		if !e.keys[name] || kind == attr.Binary {
			d.lose(KeyTypes, e.t.Name+"."+name)
		}
	}
	return indented(list)
}

type electroWriter struct {
	*design
	t *model.Table
	// indexes are those that the schemas have, and keys the key attributes in them.
	indexes, keys map[string]bool
}

// carries reports whether a schema can have an index: its keys are single attributes, and an entity
// has them. An index with the partition key of the table is a local one.
func (w *electroWriter) carries(x *model.Index) bool {
	if len(x.Partition) > 1 || len(x.Sort) > 1 || unusable(x.Keys()) {
		return false
	}
	if slices.Equal(x.Partition, w.t.Partition) && !x.Local {
		w.lose(LocalIndexes, w.t.Name+"."+x.Name)
	}
	w.indexes[x.Name] = slices.ContainsFunc(w.m.Entities, func(e *model.Entity) bool {
		return hasKeys(e, x.Keys()) && !newPlan(e, rules{}).repeats(x.Partition, x.Sort)
	})
	return w.indexes[x.Name]
}

func hasKeys(e *model.Entity, list []model.Attribute) bool {
	return !slices.ContainsFunc(list, func(a model.Attribute) bool { return e.Attribute(a.Name) == nil })
}

// repeats reports whether the keys of an index have a field twice, which the library refuses unless it
// is the only one of the sort key.
func (p *plan) repeats(hash, sort []model.Attribute) bool {
	var all [2][]string
	for i, list := range [][]model.Attribute{hash, sort} {
		for _, a := range list {
			if t := p.e.Attribute(a.Name); t != nil && !p.plain[a.Name] {
				all[i] = append(all[i], t.Components()...)
			}
		}
	}
	return len(all[1]) > 1 &&
		slices.ContainsFunc(all[1], func(field string) bool { return slices.Contains(all[0], field) })
}

func (w *electroWriter) schema(p *plan) ordered {
	if p.repeats(w.t.Partition, w.t.Sort) {
		p.plain[w.t.Sort[0].Name] = true
	}
	attributes := ordered{}
	for _, f := range p.forms {
		t := p.stored[f.field]
		property := electroField(f, p)
		if t == nil {
			w.lose(Added, p.e.Name+"."+f.field)
		} else if t.Name != f.field {
			property.add("field", t.Name)
		}
		attributes.add(f.field, property)
	}

	inKeys := map[string]bool{}
	add := func(list []model.Attribute) {
		for _, a := range list {
			inKeys[a.Name], w.keys[a.Name] = true, true
		}
	}
	add(w.t.Keys())
	indexes := ordered{{"primary", w.index(p, w.t.Partition, w.t.Sort)}}
	for _, x := range w.t.Indexes {
		if !w.indexes[x.Name] || !hasKeys(p.e, x.Keys()) || p.repeats(x.Partition, x.Sort) {
			continue
		}
		add(x.Keys())
		index := ordered{{"index", x.Name}}
		switch x.Projection {
		case "INCLUDE":
			index.add("projection", x.Include)
		case "KEYS_ONLY":
			index.add("projection", "keys_only")
		}
		indexes.add(x.Name, append(index, w.index(p, x.Partition, x.Sort)...))
	}

	for _, t := range p.e.Attributes {
		if property := w.attribute(p, t, inKeys[t.Name]); property != nil {
			attributes.add(t.Name, property)
		}
	}
	w.loseTypes(p, func(f form, part keys.Part, t *model.Template) bool {
		switch {
		case f.number && t.Kind == attr.Number:
			return part.Type.Name == "number"
		case f.number:
			return true
		}
		return typeName(part.Type) == "string"
	})
	return ordered{
		{"model", ordered{{"entity", p.e.Name}, {"version", "1"}, {"service", w.m.Name}}}, {"table", w.t.Name},
		{"attributes", attributes}, {"indexes", indexes},
	}
}

// index returns the keys of the table or of an index.
func (w *electroWriter) index(p *plan, hash, sort []model.Attribute) ordered {
	var all ordered
	for i, list := range [][]model.Attribute{hash, sort} {
		for _, a := range list {
			all.add([]string{"pk", "sk"}[i], w.key(p, p.e.Attribute(a.Name)))
		}
	}
	return all
}

// key returns the key of an attribute: its template, or the attribute itself.
func (w *electroWriter) key(p *plan, t *model.Template) ordered {
	key := ordered{{"field", t.Name}}
	v, ok := constant(t)
	switch {
	case ok && !t.Conditional() && v.Kind() == attr.String && literal(v) != "":
		return append(key, entry{"composite", []string{}}, entry{"template", literal(v)}, entry{"casing", "none"})
	case ok || p.plain[t.Name] || pure(t) == t.Name:
		return append(key, entry{"composite", []string{t.Name}}, entry{"casing", "none"})
	}
	key = append(key, entry{"composite", t.Template.Components()}, entry{"template", p.dollars(t, false)})
	if t.Kind == attr.Number {
		return append(key, entry{"cast", "number"})
	}
	return append(key, entry{"casing", "none"})
}

// attribute returns the property of an attribute that no field stores and that is no key with a
// template, or nil.
func (w *electroWriter) attribute(p *plan, t *model.Template, inKey bool) ordered {
	name := p.e.Name + "." + t.Name
	plain := ordered{{"type", electroTypes[t.Kind]}}
	v, ok := constant(t)
	switch {
	case slices.Contains(inherited, t.Name):
		w.lose(partOf(t), name)
		return nil
	case ok && !t.Conditional() && v.Kind() == attr.String && literal(v) != "":
		if inKey {
			return nil
		}
		text := literal(v)
		return ordered{{"type", []string{text}}, {"default", text}, {"required", true}, {"readOnly", true}}
	case ok:
		w.lose(Constants, name)
		return plain
	case p.plain[t.Name]:
		w.lose(Templates, name)
		return plain
	case inKey || p.stored[pure(t)] == t:
		return nil
	}
	w.lose(Templates, name) // only a program computes values of other attributes
	return plain
}

// electroTypes are the names of the types of values.
var electroTypes = map[attr.Kind]string{
	attr.String: "string", attr.Number: "number", attr.Binary: "string", attr.Bool: "boolean", attr.List: "any",
	attr.Map: "any", attr.StringSet: "any", attr.NumberSet: "any", attr.BinarySet: "any", attr.Null: "any",
}

// electroField returns the property of a field.
func electroField(f form, p *plan) ordered {
	switch {
	case f.number && f.typ.Name == "int" && p.inText(f.field):
		return ordered{{"type", "number"}, {"padding", ordered{{"length", f.typ.Width}, {"char", "0"}}}}
	case f.number:
		return ordered{{"type", "number"}}
	case f.typ.Name == "enum":
		return ordered{{"type", f.typ.Values}}
	}
	return ordered{{"type", "string"}}
}

// inText reports whether a field is in the text of an attribute.
func (p *plan) inText(field string) bool {
	return slices.ContainsFunc(p.e.Attributes, func(t *model.Template) bool {
		return t.Kind == attr.String && !p.plain[t.Name] && slices.Contains(t.Components(), field)
	})
}
