package convert

import (
	"errors"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// A declared entity is one whose schema declares its templates and types.
type declared struct {
	im *importer
	g  *group
	e  *model.Entity
	t  *model.Table
	// fields are the declared types and values.
	fields map[string]*model.Field
	used   map[string]bool // in templates
	// elsewhere are the fields stored under another name.
	elsewhere map[string]bool
	left      map[string][]string
	order     []string // reasons in left, in order
}

func (im *importer) declare(name, about string, t *model.Table, n *node) *declared {
	e := &model.Entity{Table: t, About: about}
	return &declared{
		im: im, e: e, t: t, g: &group{name: name, n: n, entity: e},
		fields: map[string]*model.Field{}, used: map[string]bool{}, elsewhere: map[string]bool{},
		left: map[string][]string{},
	}
}

// skip records that an attribute is not imported. finish reports one loss for
// each reason.
func (d *declared) skip(name, why string) {
	if d.left[why] == nil {
		d.order = append(d.order, why)
	}
	d.left[why] = append(d.left[why], name)
}

// field declares a field.
func (d *declared) field(name string, typ keys.Type, values []string) {
	if typ.Name == "string" {
		typ = keys.Type{}
	}
	d.fields[name] = &model.Field{
		Name: name, Type: typ, Values: values, Distribution: model.Distribution{Name: "uniform"},
	}
}

// template adds an attribute with a template. Components without a type have
// that of their field.
func (d *declared) template(n *node, name string, kind attr.Kind, src string) bool {
	if d.e.Attribute(name) != nil {
		return true
	}

	types := map[string]keys.Type{}
	for f := range d.fields {
		types[f] = d.fields[f].Type
		if kind == attr.Number && !asStored(types[f]) {
			types[f] = keys.Type{Name: "number"}
		}
	}

	t, err := keys.ParseWith(src, types)
	if err == nil && kind == attr.Number {
		if parts := t.Parts(); len(parts) != 1 || parts[0].Name == "" && attrNumber(parts[0].Literal) != nil {
			err = errNumber
		}
	}
	if err != nil {
		d.im.loss(n, "attribute "+name+" of "+d.g.name, "invalid template "+clip(src)+": "+err.Error(), "")
		return false
	}

	for _, p := range t.Parts() {
		if p.Name == "" {
			continue
		}
		d.used[p.Name] = true
		if d.fields[p.Name] == nil {
			typ := p.Type
			if typ.Name == "string" {
				typ = keys.Type{}
			}
			d.field(p.Name, typ, nil)
		}
	}

	// With explicit types, the template does not depend on those of the fields.
	if explicit, err := keys.Parse(t.Explicit()); err == nil {
		t = explicit
	}
	d.e.Attributes = append(d.e.Attributes, &model.Template{Name: name, Kind: kind, Template: t})
	return true
}

// kindOf returns the type of an attribute that contains only a field.
func kindOf(t keys.Type) attr.Kind {
	if slices.Contains([]string{"number", "int", "epoch", "epochms", "year"}, t.Name) {
		return attr.Number
	}
	return attr.String
}

// asStored reports whether a type writes numbers like the service, without
// padding.
func asStored(t keys.Type) bool { return t.Name != "int" && kindOf(t) == attr.Number }

func attrNumber(text string) error {
	_, err := attr.NewNumber(text)
	return err
}

var errNumber = errors.New("a key of type N must be one field of a numeric type")

// finish adds the fields, and the entity to its table. It drops an entity
// without a template for each key of the table.
func (d *declared) finish(order []string) {
	for _, a := range d.t.Keys() {
		if d.e.Attribute(a.Name) == nil {
			d.im.loss(
				d.g.n, d.g.name, "it has no template for "+a.Name+", a key of table "+d.t.Name,
				"add the entity to the model",
			)
			return
		}
	}

	for _, f := range order {
		if def := d.fields[f]; def != nil && d.used[f] && d.e.Field(f) == nil {
			d.e.Fields = append(d.e.Fields, d.im.share(def))
		}
	}

	for _, t := range d.e.Attributes {
		if t.Template == nil {
			continue
		}
		for _, p := range t.Template.Parts() {
			if p.Name == "" || d.e.Field(p.Name) != nil {
				continue
			}
			if d.fields[p.Name] == nil {
				d.field(p.Name, p.Type, nil)
			}
			d.e.Fields = append(d.e.Fields, d.im.share(d.fields[p.Name]))
		}
	}

	// Fields in keys are also attributes of their own.
	for _, name := range order {
		if def := d.fields[name]; def != nil && d.used[name] && !d.elsewhere[name] && d.e.Attribute(name) == nil {
			d.template(d.g.n, name, kindOf(def.Type), "{"+name+"}")
		}
	}

	for _, name := range order {
		def := d.fields[name]
		if def == nil || d.used[name] || d.e.Attribute(name) != nil || d.e.Field(name) != nil {
			continue
		}
		kind := kindOf(def.Type)
		if kind == attr.Number && !asStored(def.Type) {
			def.Type = keys.Type{Name: "number"}
		}
		if k := d.t.Kinds()[name]; k != 0 && k != kind {
			d.skip(name, "a key of that name has another type")
			continue
		}
		t, err := keys.ParseWith("{"+name+"}", map[string]keys.Type{name: def.Type})
		if err != nil {
			d.skip(name, "it is not a valid field name")
			continue
		}
		d.e.Fields = append(d.e.Fields, def)
		d.e.Attributes = append(d.e.Attributes, &model.Template{Name: name, Kind: kind, Template: t})
	}

	for _, why := range d.order {
		d.im.loss(d.g.n, strings.Join(d.left[why], ", ")+" of "+d.g.name, why, "")
	}
	p := d.im.pool(d.t)
	p.groups = append(p.groups, d.g)
}

// untyped records the fields of an entity that have no type.
func (im *importer) untyped(n *node, entity string, fields []*node) {
	var names []string
	for _, f := range fields {
		if f.isObject() && f.get("type").vacant() && f.get("schema") == nil {
			names = append(names, f.key)
		}
	}
	if names == nil {
		return
	}
	im.loss(
		n, "the type of "+text.Join(names, "and")+" of "+entity, "the file has none, so it is read as a string",
		"JSON.stringify drops a type such as Number: import the .js or .ts file itself to see how to keep it",
	)
}

// tableFor returns a name for the table of a schema that does not name it.
func (im *importer) tableFor(d *document) string {
	switch {
	case im.o.Table != "":
		return im.o.Table
	case im.defined == 1:
		return im.m.Tables[0].Name
	}
	if s := slug(strings.TrimSuffix(baseName(d.name), ".json")); s != "" {
		return s
	}
	return "table"
}

func baseName(path string) string {
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		return path[i+1:]
	}
	return path
}
