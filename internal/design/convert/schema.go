package convert

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keys"
)

// A declared is an entity that a OneTable or ElectroDB schema declares. It has the parts that both kinds of schemas
// have.
type declared struct {
	name   string
	n      *node
	t      *model.Table
	fields []*declaredField
	keys   []declaredKey
	// constants are the names and the values of attributes with one value.
	constants [][2]string
}

// A declaredField is a field, and the name of the attribute that stores it.
type declaredField struct {
	*model.Field
	stored string
}

// A declaredKey is a key attribute that is built from fields.
type declaredKey struct {
	n        *node
	name     string
	kind     attr.Kind
	template string
}

// schemas reads the schemas of ElectroDB or OneTable. It calls table to get the table of each schema, and then
// declare to declare the schema's entities. If a schema names no table, schemas uses the table of the options, or
// else the first table that another schema names.
func (im *importer) schemas(
	list []*node, table func(name string, n *node, all []*node) *model.Table, declare func(n *node, t *model.Table),
) error {
	name := im.o.Table
	for _, n := range list {
		name = cmp.Or(name, n.str("table"))
	}
	tables := make([]*model.Table, len(list))
	for i, n := range list {
		name = cmp.Or(name, im.tableFor(n.doc))
		var err error
		if tables[i], err = im.joinTable(table(cmp.Or(im.o.Table, n.str("table"), name), n, list), n); err != nil {
			return err
		}
	}
	for i, n := range list {
		if tables[i] != nil {
			declare(n, tables[i])
		}
	}
	return nil
}

// addField declares a field.
func (d *declared) addField(name, stored string, typ keys.Type, values []string) *declaredField {
	if typ.Name == "string" {
		typ = keys.Type{}
	}
	f := &declaredField{
		&model.Field{Name: name, Type: typ, Values: values, Distribution: model.Distribution{Name: "uniform"}}, stored,
	}
	d.fields = append(d.fields, f)
	return f
}

// field declares the field of an attribute, or records a loss if a model cannot have the field.
func (im *importer) field(d *declared, a *node, stored string, typ keys.Type, ok bool, values []string) {
	switch {
	case a.key != fieldName(a.key):
		im.skip(d, a.key, "it is not a valid field name")
	case !ok && !(isBinary(a) && d.t.IsKey(stored)):
		im.skip(
			d, a.key, "a field must be a string, a number or a time, not "+clip(a.str("type"))+
				"; samples can have the attribute",
		)
	default:
		d.addField(a.key, stored, typ, values)
	}
}

// padded returns the type of numbers that the library pads to a width with a character. If char is "", the character
// is zero.
func padded(width, char string) (keys.Type, bool) {
	n, err := strconv.Atoi(width)
	return keys.Type{Name: "int", Width: n}, err == nil && n > 0 && n <= 38 && (char == "0" || char == "")
}

// field returns the named field, or nil.
func (d *declared) field(name string) *declaredField {
	for _, f := range d.fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// skip records a loss for an attribute that is not imported.
func (im *importer) skip(d *declared, name, why string) { im.loss(d.n, name+" of "+d.name, why, "") }

// declare adds an entity, unless a key attribute of its table has no template.
func (im *importer) declare(d *declared) {
	e := &model.Entity{Name: im.entityName(d.name), Table: d.t}
	used := map[string]bool{}
	for _, k := range d.keys {
		if e.Attribute(k.name) != nil {
			continue
		}
		t, err := d.parse(k.kind, k.template)
		if err != nil {
			im.loss(k.n, "attribute "+k.name+" of "+d.name, "invalid template "+clip(k.template)+": "+err.Error(), "")
			continue
		}
		e.Attributes = append(e.Attributes, &model.Template{Name: k.name, Kind: k.kind, Template: explicit(t)})
		for _, p := range t.Parts() {
			if p.Name != "" && d.field(p.Name) == nil {
				d.addField(p.Name, "", p.Type, nil)
			}
			used[p.Name] = true
		}
	}
	for _, c := range d.constants {
		if c[1] != "" && e.Attribute(c[0]) == nil && d.field(c[0]) == nil && !d.t.IsKey(c[0]) {
			e.Attributes = append(
				e.Attributes, &model.Template{Name: c[0], Kind: attr.String, Const: attr.NewString(c[1])},
			)
		}
	}

	kinds := d.t.Kinds()
	var own []*model.Template // attributes of fields that are in no key
	for _, f := range d.fields {
		kind := cmp.Or(kinds[f.stored], kindOf(f.Type))
		if kind == attr.Number && !used[f.Name] && !asStored(f.Type) {
			f.Type = keys.Type{Name: "number"}
		}
		if used[f.Name] {
			e.Fields = append(e.Fields, im.share(f.Field))
		}
		if f.stored == "" || e.Attribute(f.stored) != nil {
			continue
		}
		t, err := d.parse(kind, "{"+f.Name+"}")
		if err != nil {
			im.skip(d, f.Name, err.Error())
			continue
		}
		template := &model.Template{Name: f.stored, Kind: kind, Template: t}
		if used[f.Name] {
			template.Template = explicit(t)
			e.Attributes = append(e.Attributes, template)
		} else {
			e.Fields, own = append(e.Fields, f.Field), append(own, template)
		}
	}
	e.Attributes = append(e.Attributes, own...)

	for _, a := range d.t.Keys() {
		if e.Attribute(a.Name) == nil {
			im.loss(
				d.n, d.name, "it has no template for "+a.Name+", a key of table "+d.t.Name,
				"add the entity to the model",
			)
			return
		}
	}
	im.m.Entities = append(im.m.Entities, e)
}

var errNumber = errors.New("a key of type N must be one field of a numeric type")

// parse parses a template whose components are declared fields, with their types.
func (d *declared) parse(kind attr.Kind, src string) (*keys.Template, error) {
	types := map[string]keys.Type{}
	for _, f := range d.fields {
		types[f.Name] = f.Type
		if kind == attr.Number && !asStored(f.Type) {
			types[f.Name] = keys.Type{Name: "number"}
		}
	}
	t, err := keys.ParseWith(src, types)
	if err != nil {
		return nil, err
	}
	if parts := t.Parts(); kind == attr.Number && (len(parts) != 1 || parts[0].Name == "") {
		return nil, errNumber
	}
	return t, nil
}

// explicit returns a template in which each component has its own type, so that it does not depend on the types of
// the fields.
func explicit(t *keys.Template) *keys.Template {
	if typed, err := keys.Parse(t.Explicit()); err == nil {
		return typed
	}
	return t
}

// kindOf returns the type of an attribute that contains only a field of type t.
func kindOf(t keys.Type) attr.Kind {
	if t.Name == "int" || asStored(t) {
		return attr.Number
	}
	return attr.String
}

// asStored reports whether a type writes numbers without padding, as the service stores them.
func asStored(t keys.Type) bool {
	return slices.Contains([]string{"number", "epoch", "epochms", "year"}, t.Name)
}

// untyped records a loss for the fields of an entity that have no type.
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

// tableFor returns a table name for a schema that does not name its table.
func (im *importer) tableFor(d *document) string {
	switch name := slug(strings.TrimSuffix(filepath.Base(d.name), ".json")); {
	case len(im.m.Tables) == 1:
		return im.m.Tables[0].Name
	case len(name) >= wire.MinName:
		return name
	}
	return "table"
}

var reference = text.Pattern(`\$\{([^}]*)\}`)

// replaceReferences converts src. It replaces each reference ${…} by the result of field, and the text between
// references by the result of literal.
func replaceReferences(src string, literal func(string) string, field func(string) (string, error)) (string, error) {
	var b strings.Builder
	at := 0
	for _, m := range reference().FindAllStringSubmatchIndex(src, -1) {
		component, err := field(src[m[2]:m[3]])
		if err != nil {
			return "", err
		}
		b.WriteString(literal(src[at:m[0]]) + component)
		at = m[1]
	}
	rest := src[at:]
	if open := strings.Index(rest, "${"); open >= 0 {
		return "", fmt.Errorf("%s has no closing brace", clip(rest[open:]))
	}
	b.WriteString(literal(rest))
	if b.Len() == 0 {
		return "", errors.New("it is empty")
	}
	return b.String(), nil
}
