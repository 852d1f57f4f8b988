package export

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

// oneTable writes a schema of DynamoDB OneTable: a model for each entity, with value templates.
func oneTable(d *design) ([]byte, error) {
	o := oneTableWriter{design: d, t: d.m.Tables[0]}
	if unusable(o.t.Keys()) {
		d.lose(Tables, o.t.Name)
		return nil, nil
	}
	o.chooseTypeField()
	doc := ordered{{"format", "onetable:1.1.0"}, {"version", "0.0.1"}, {"name", d.m.Name}}
	if d.m.About != "" {
		doc.add("description", d.m.About)
	}
	doc.add("indexes", o.indexes())

	models, items := ordered{}, []any{}
	for _, e := range d.m.Entities {
		p := newPlan(e, rules{dates: true, widths: true, nested: true})
		models.add(e.Name, o.model(p))
		for _, s := range e.Samples {
			item, err := o.item(p, s)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
	}
	for range d.m.Items {
		d.lose(Items, o.t.Name) // no model describes them
	}
	if o.t.TTL != "" && !o.expires {
		d.lose(TTL, o.t.Name)
	}
	for name, kind := range o.t.Kinds() {
		has := func(e *model.Entity) bool { return e.Attribute(name) != nil }
		missing := kind != attr.String && !slices.ContainsFunc(d.m.Entities, has)
		if missing || slices.Contains(inherited, name) {
			d.lose(KeyTypes, o.t.Name+"."+name) // the properties of models have the types
		}
	}
	doc.add("models", models)
	doc.add("params", ordered{{"typeField", o.typeField}, {"isoDates", false}, {"timestamps", false}})
	if len(items) > 0 {
		doc.add("items", items)
	}
	return indented(doc)
}

type oneTableWriter struct {
	*design
	t *model.Table
	// typeField is the attribute with the name of the model; own says that the items have it anyway.
	typeField string
	own       bool
	expires   bool // a property is the time to live
}

// chooseTypeField chooses the attribute in which the library stores the name of an item's model:
// one in which all entities store theirs, or an attribute that is added.
func (o *oneTableWriter) chooseTypeField() {
	if len(o.m.Entities) == 0 {
		o.typeField = "_type"
		return
	}
	for _, t := range o.m.Entities[0].Attributes {
		if o.t.IsKey(t.Name) || !o.named(t.Name) {
			continue
		}
		o.typeField, o.own = t.Name, true
		return
	}
	for o.typeField = "_type"; o.taken(o.typeField); {
		o.typeField += "_"
	}
	o.lose(Added, o.typeField)
}

// named reports whether an attribute of all entities is the name of the entity.
func (o *oneTableWriter) named(attribute string) bool {
	for _, e := range o.m.Entities {
		t := e.Attribute(attribute)
		if t == nil || t.Conditional() {
			return false
		}
		if v, ok := constant(t); !ok || v.Kind() != attr.String || string(v.Raw()) != e.Name {
			return false
		}
	}
	return true
}

func (o *oneTableWriter) taken(name string) bool {
	for _, e := range o.m.Entities {
		if e.Attribute(name) != nil || e.Field(name) != nil {
			return true
		}
	}
	return false
}

func (o *oneTableWriter) indexes() ordered {
	all := ordered{{"primary", oneTableKey(o.t.Partition, o.t.Sort)}}
	for _, x := range o.t.Indexes {
		if x.Name == "primary" || unusable(x.Keys()) { // primary is the name of the table's own key
			o.lose(Indexes, o.t.Name+"."+x.Name)
			continue
		}
		var index ordered
		if x.Local {
			index.add("type", "local")
		}
		index = append(index, oneTableKey(x.Partition, x.Sort)...)
		switch x.Projection {
		case "INCLUDE":
			index.add("project", x.Include)
		case "KEYS_ONLY":
			index.add("project", "keys")
		default:
			index.add("project", "all")
		}
		all.add(x.Name, index)
	}
	return all
}

func oneTableKey(hash, sort []model.Attribute) ordered {
	var key ordered
	for i, list := range [][]model.Attribute{hash, sort} {
		var names []string
		for _, a := range list {
			names = append(names, a.Name)
		}
		part := []string{"hash", "sort"}[i]
		switch len(names) {
		case 0:
		case 1:
			key.add(part, names[0])
		default:
			key.add(part, names)
		}
	}
	return key
}

// oneTableTypes are the names of the types of values.
var oneTableTypes = map[attr.Kind]string{
	attr.String: "string", attr.Number: "number", attr.Binary: "binary", attr.Bool: "boolean", attr.List: "array",
	attr.Map: "object", attr.StringSet: "set", attr.NumberSet: "set", attr.BinarySet: "set", attr.Null: "string",
}

// model returns the properties of an entity: its attributes, then the fields that they are made of.
func (o *oneTableWriter) model(p *plan) ordered {
	all := ordered{}
	for _, t := range p.e.Attributes {
		name := p.e.Name + "." + t.Name
		v, ok := constant(t)
		switch {
		case t.Name == o.typeField:
		case slices.Contains(inherited, t.Name):
			o.lose(partOf(t), name)
		case ok && !t.Conditional() && (v.Kind() == attr.String || v.Kind() == attr.Number) && literal(v) != "":
			all.add(t.Name, ordered{{"type", oneTableTypes[v.Kind()]}, {"value", literal(v)}})
		case ok && !t.Conditional():
			o.lose(Constants, name)
			all.add(t.Name, o.plain(t))
		case p.plain[t.Name]:
			o.lose(partOf(t), name)
			all.add(t.Name, o.plain(t))
		case p.stored[pure(t)] == t && pure(t) == t.Name:
			f, _ := p.form(t.Name)
			all.add(t.Name, o.field(f, t))
		case p.stored[pure(t)] == t:
			f, _ := p.form(pure(t))
			all.add(f.field, append(o.field(f, t), entry{"map", t.Name}))
		default:
			property := ordered{{"type", oneTableTypes[t.Kind]}, {"value", p.dollars(t, t.Kind == attr.String)}}
			if f, ok := p.form(t.Template.Components()[0]); ok && f.date {
				property.add("isoDates", !f.number)
			}
			all.add(t.Name, property)
		}
	}

	for _, f := range p.forms {
		if p.stored[f.field] == nil {
			o.lose(Added, p.e.Name+"."+f.field)
			all.add(f.field, o.field(f, nil))
		}
	}

	o.loseTypes(p, func(f form, part keys.Part, t *model.Template) bool {
		switch {
		case f.date:
			return true
		case f.number && t.Kind == attr.Number:
			return part.Type.Name == "number"
		case f.number:
			return padded(part.Type)
		}
		return typeName(part.Type) == "string"
	})
	return all
}

// literal returns the text of a constant, or "" if it would be a template.
func literal(v attr.Value) string {
	s := string(v.Raw())
	if v.Kind() == attr.Number {
		s = string(v.AppendNumber(nil))
	}
	if !strings.Contains(s, "${") {
		return s
	}
	return ""
}

// plain returns the property of an attribute that the program sets.
func (o *oneTableWriter) plain(t *model.Template) ordered {
	if t.Name == o.t.TTL && t.Kind == attr.Number {
		o.expires = true
		return ordered{{"type", "date"}, {"ttl", true}}
	}
	return ordered{{"type", oneTableTypes[t.Kind]}}
}

// field returns the property of a field, which an attribute holds, if it is not nil.
func (o *oneTableWriter) field(f form, t *model.Template) ordered {
	switch {
	case f.date && f.typ.Name == "epoch":
		o.expires = o.expires || t.Name == o.t.TTL
		return ordered{{"type", "date"}, {"ttl", true}}
	case f.date && f.typ.Name == "epochms":
		return ordered{{"type", "date"}}
	case f.date:
		return ordered{{"type", "date"}, {"isoDates", true}}
	case f.number:
		return ordered{{"type", "number"}}
	}
	property := ordered{{"type", "string"}}
	if f.typ.Name == "enum" {
		property.add("enum", f.typ.Values)
	}
	return property
}

// item returns an item as the library stores it.
func (o *oneTableWriter) item(p *plan, s *model.Sample) (any, error) {
	it, err := p.e.ItemWith(s.Values, s.Attributes)
	if err != nil {
		return nil, err
	}
	var row ordered
	for name, v := range it.All() {
		row.add(string(name), plainValue(v))
	}
	for _, f := range p.forms {
		text, ok := s.Values[f.field]
		if !ok || p.stored[f.field] != nil || s.Attributes.Get(f.field).Kind() != 0 {
			continue
		}
		v, err := f.value(text)
		if err != nil {
			return nil, err
		}
		row.add(f.field, plainValue(v))
	}
	if !o.own {
		row.add(o.typeField, p.e.Name)
	}
	return row, nil
}

// plainValue returns a value as plain JSON if that says its type, and as DynamoDB JSON otherwise.
func plainValue(v attr.Value) any {
	switch v.Kind() {
	case attr.String:
		return string(v.Raw())
	case attr.Number:
		return json.Number(v.AppendNumber(nil))
	case attr.Bool:
		return v.Bool()
	case attr.Null:
		return nil
	}
	return json.RawMessage(v.AppendJSON(nil))
}
