package convert

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keys"
)

// oneTable reads OneTable schemas, all of one table. Their value templates become templates of
// attributes; the behaviour of the library is not part of a design.
func (im *importer) oneTable(list []*node) error {
	var models []*node // of all schemas
	for _, n := range list {
		models = append(models, n.get("models").members()...)
	}
	name := ""
	tables := make([]*model.Table, len(list))
	for i, n := range list {
		if name == "" {
			name = im.tableFor(n.doc)
		}
		var err error
		if tables[i], err = im.joinTable(im.oneTableKeys(name, n, models), n, "the schema"); err != nil {
			return err
		}
	}
	for i, n := range list {
		if err := im.oneTableSchema(n, tables[i]); err != nil {
			return err
		}
	}
	return nil
}

// oneTableSchema reads a schema whose table is t.
func (im *importer) oneTableSchema(n *node, t *model.Table) error {
	im.loseUnknown(
		n, "format", "version", "name", "description", "indexes", "models", "params", "queries", "items", "extensions",
	)
	if f := n.str("format"); f != "" && f != "onetable:1.1.0" && f != "onetable:1.0.0" {
		im.loss(n.get("format"), "format "+clip(f), "the importer reads it as onetable:1.1.0", "check the result")
	}
	if d := n.str("description"); d != "" {
		im.m.About = d
	}
	if s := slug(n.str("name")); s != "" {
		im.name = s
	}
	if e := n.get("extensions"); !e.vacant() {
		im.loss(e, "the extensions", "a model has none", "")
	}

	im.derived = true
	o := oneTable{im: im, params: n.get("params"), typeField: "_type", t: t}
	im.loseUnknown(
		o.params, "typeField", "isoDates", "timestamps", "createdField", "updatedField", "nulls", "hidden",
		"createTable", "separator", "warn", "partial",
	)

	if f := o.params.str("typeField"); f != "" {
		o.typeField = f
	}
	o.iso = o.params.get("isoDates").isTrue()
	if t == nil {
		return nil
	}

	groups := map[string]*group{}
	for _, m := range n.get("models").members() {
		if err := im.declareOnce(m.key, n); err != nil {
			return err
		}
		if g := o.model(m); g != nil {
			groups[m.key] = g
		}
	}

	if q := n.get("queries"); !q.vacant() {
		for _, m := range q.members() {
			im.loss(
				m, "query "+clip(m.key), "saved queries have values, not fields",
				"add it as a pattern with conditions on fields",
			)
		}
	}

	for _, m := range n.get("items").elems() {
		it, ok := im.item(m)
		if !ok {
			continue
		}
		var g *group
		if v := it.Get(o.typeField); v.Kind() == attr.String {
			g = groups[string(v.Raw())]
		}
		im.put(o.t, it, g, m)
	}
	return nil
}

type oneTable struct {
	im        *importer
	params    *node
	typeField string
	iso       bool
	t         *model.Table
}

// oneTableKeys returns a table with the indexes of a schema. The models have the types of key
// attributes.
func (im *importer) oneTableKeys(name string, n *node, models []*node) *model.Table {
	iso := n.get("params").get("isoDates").isTrue()
	kind := func(name string) attr.Kind {
		for _, m := range models {
			switch oneTableType(m.get(name)) {
			case "number":
				return attr.Number
			case "date":
				if !iso && !m.get(name).get("isoDates").isTrue() {
					return attr.Number
				}
			case "binary", "buffer", "arraybuffer", "uint8array":
				return attr.Binary
			}
		}
		return attr.String
	}
	of := func(x *node) (hash, sort []model.Attribute) {
		for i, part := range []string{"hash", "sort"} {
			list := []*node{x.get(part)}
			if list[0].isList() {
				list = list[0].list
			}
			for _, m := range list {
				if m.isText() && m.text != "" {
					a := model.Attribute{Name: m.text, Kind: kind(m.text)}
					if i == 0 {
						hash = append(hash, a)
					} else {
						sort = append(sort, a)
					}
				}
			}
		}
		return hash, sort
	}

	t := &model.Table{Name: name}
	indexes := n.get("indexes")
	t.Partition, t.Sort = of(indexes.get("primary"))
	for _, x := range indexes.members() {
		if x.key == "primary" {
			im.loseUnknown(x, "hash", "sort", "description")
			continue
		}
		im.loseUnknown(x, "hash", "sort", "type", "project", "follow", "description")
		index := &model.Index{Name: indexName(x.key), Local: x.str("type") == "local", Projection: "ALL"}
		index.Partition, index.Sort = of(x)
		if index.Local {
			index.Partition = t.Partition
		}
		p := x.get("project")
		switch {
		case p.isList():
			index.Projection, index.Include = "INCLUDE", nil
			for _, a := range p.list {
				if a.isText() {
					index.Include = append(index.Include, a.text)
				}
			}
		case p.isText() && p.text == "keys":
			index.Projection = "KEYS_ONLY"
		}
		if index.Projection == "INCLUDE" && len(index.Include) == 0 {
			index.Projection = "KEYS_ONLY"
		}
		if x.get("follow").isTrue() {
			im.loss(
				x.get("follow"), "follow of index "+x.key,
				"the library also reads the table, but a pattern is one request",
				"add a get pattern for the second read",
			)
		}
		t.Indexes = append(t.Indexes, index)
	}

	for _, m := range models {
		for _, f := range m.members() {
			if f.get("ttl").isTrue() && t.TTL == "" {
				t.TTL = cmp.Or(f.str("map"), f.key)
			}
		}
	}

	return t
}

// indexName returns a valid index name, which has at least three characters.
func indexName(name string) string {
	name = dashed(name)
	for len(name) < wire.MinName {
		name += "-"
	}
	return name
}

// Properties of attributes that a design does not need.
var oneTableQuiet = []string{
	"type", "value", "required", "enum", "generate", "uuid", "ulid", "map", "hidden", "nulls", "description",
	"isoDates", "ttl", "timestamp", "partial", "scope", "readonly", "items",
}

func (o *oneTable) model(n *node) *group {
	d := o.im.declare(n.key, "", o.t, n)
	fields := n.members()
	o.im.untyped(n, n.key, fields)
	var order []string
	names := map[string]string{} // of attributes, where they are mapped
	for _, f := range fields {
		name := f.key
		if names[name] = name; name != fieldName(name) {
			if !f.get("value").isText() {
				d.skip(name, "it is not a valid field name")
				delete(names, name)
			}
			continue
		}
		if m := f.str("map"); m != "" {
			if strings.Contains(m, ".") {
				d.skip(name, "it is packed into another attribute")
				continue
			}
			names[name] = m
			d.elsewhere[name] = m != name
		}
		o.field(d, f)
		order = append(order, name)
	}

	for _, f := range n.members() {
		name, mapped := f.key, names[f.key]
		value := f.get("value")
		if mapped == "" {
			continue
		}
		kind := o.kindOf(f, mapped)
		switch {
		case value.isText():
			delete(d.fields, name)
			src, err := valueTemplate(strings.ReplaceAll(value.text, "${"+o.typeField+"}", n.key), d.fields)
			if err != nil {
				o.im.loss(value, "the value of "+name+" in "+n.key, err.Error(), "")
				continue
			}
			d.template(value, mapped, kind, src)
		case value.isTrue() || value != nil && !value.vacant():
			o.im.loss(value, "the value of "+name+" in "+n.key, "it is a function of the program", "write a template")
		case d.fields[name] != nil && (mapped != name || o.t.IsKey(mapped)):
			d.template(f, mapped, kind, "{"+name+"}")
		}
	}

	if o.params.get("timestamps") != nil && !o.params.get("timestamps").vacant() {
		for i, part := range []string{"created", "updated"} {
			name := o.params.str(part + "Field")
			if name == "" {
				name = part
			}
			mode := o.params.str("timestamps")
			other := mode != "" && mode != []string{"create", "update"}[i]
			if other || d.fields[name] != nil || name != fieldName(name) {
				continue
			}
			d.field(name, o.date(nil), nil)
			order = append(order, name)
		}
	}

	if d.e.Attribute(o.typeField) == nil && o.typeField != "" && len(o.typeField) <= 255 && !o.t.IsKey(o.typeField) {
		delete(d.fields, o.typeField)
		d.e.Attributes = append(
			d.e.Attributes, &model.Template{Name: o.typeField, Kind: attr.String, Const: attr.NewString(n.key)},
		)
	}

	d.finish(order)
	for _, g := range o.im.pool(o.t).groups {
		if g == d.g {
			return g
		}
	}
	return nil
}

// oneTableType returns the type of a field. A program may have the constructor of it, such as Number.
func oneTableType(f *node) string { return strings.ToLower(f.str("type")) }

// kindOf returns the type of the attribute that stores a field.
func (o *oneTable) kindOf(f *node, mapped string) attr.Kind {
	if k := o.t.Kinds()[mapped]; k != 0 {
		return k
	}
	switch oneTableType(f) {
	case "number":
		return attr.Number
	case "date":
		if o.date(f).Name != "millis" {
			return attr.Number
		}
	}
	return attr.String
}

// date returns the type of stored dates: milliseconds, seconds for a time to
// live, or JavaScript's ISO text. The specification of the schema says seconds
// for all numbers, but the library divides by 1000 only for ttl.
func (o *oneTable) date(f *node) keys.Type {
	switch {
	case f.get("ttl").isTrue():
		return keys.Type{Name: "epoch"}
	case o.iso || f.get("isoDates").isTrue():
		return keys.Type{Name: "millis"}
	}
	return keys.Type{Name: "epochms"}
}

// field declares the type of an attribute.
func (o *oneTable) field(d *declared, f *node) {
	for _, m := range f.members() {
		if !slices.Contains(oneTableQuiet, m.key) && !m.vacant() {
			d.skip(f.key+" ("+m.key+")", map[string]string{
				"unique":   "the library ensures uniqueness with its own items, which a model does not have",
				"encode":   "the library puts it into another attribute",
				"default":  "a model has no defaults; generators and samples give values",
				"validate": "a model does not validate values",
				"crypt":    "a model does not encrypt",
			}[m.key]+"")
		}
	}

	typ := keys.Type{}
	switch t := oneTableType(f); t {
	case "string", "":
	case "number":
		typ.Name = "number"
	case "date":
		typ = o.date(f)
	case "binary", "buffer", "arraybuffer", "uint8array":
		if !o.t.IsKey(f.key) {
			d.skip(f.key, "a field must be a string, a number or a time, not "+t+"; samples can have the attribute")
			return
		}
	default:
		d.skip(f.key, "a field must be a string, a number or a time, not "+clip(t)+"; samples can have the attribute")
		return
	}

	for _, m := range []string{"generate", "uuid"} {
		g := f.get(m)
		switch {
		case g.isTrue():
			typ.Name = "uuid"
		case g.isText() && (g.text == "ulid" || g.text == "uuid"):
			typ.Name = g.text
		}
	}

	var values []string
	for _, v := range f.get("enum").elems() {
		if v.isText() && v.text != "" || v.kind == '0' {
			values = append(values, v.text)
		}
	}

	values = slices.DeleteFunc(values, func(v string) bool { _, err := typ.Encode(v); return err != nil })
	d.field(f.key, typ, values)
}

var reference = text.Pattern(`\$\{([^}]*)\}`)

// valueTemplate converts account#${id} to account#{id}, and ${n:8} or ${n:8:0}
// to {n:int(8)}: the width and the padding character, 0 by default
// (doc/schema-1.1.0.md of the library).
func valueTemplate(value string, fields map[string]*model.Field) (string, error) {
	var b strings.Builder
	at := 0
	for _, m := range reference().FindAllStringSubmatchIndex(value, -1) {
		b.WriteString(braces.Replace(value[at:m[0]]))
		at = m[1]
		parts := strings.Split(value[m[2]:m[3]], ":")
		name := strings.TrimSpace(parts[0])
		if name == "" || name != fieldName(name) {
			return "", fmt.Errorf("${%s} is not a valid field name", clip(parts[0]))
		}

		b.WriteString("{" + name)
		if len(parts) > 1 {
			width, err := strconv.Atoi(parts[1])
			pad := "0"
			if len(parts) > 2 {
				pad = parts[2]
			}
			if err != nil || width < 1 || width > 38 || pad != "0" {
				return "", fmt.Errorf("template types do not support the padding of ${%s}", clip(value[m[2]:m[3]]))
			}
			fmt.Fprintf(&b, ":int(%d)", width)
			if f := fields[name]; f != nil && (f.Type.Name == "" || f.Type.Name == "number") {
				f.Type = keys.Type{Name: "int", Width: width}
			}
		}

		b.WriteString("}")
	}

	b.WriteString(braces.Replace(value[at:]))
	if b.Len() == 0 {
		return "", errors.New("it is empty")
	}
	return b.String(), nil
}
