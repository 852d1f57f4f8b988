package convert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

// oneTable reads the OneTable schema of a table. It converts value templates to templates of attributes. What the
// library does at run time has no place in a model.
func (im *importer) oneTable(n *node, t *model.Table) {
	im.m.About = cmp.Or(n.str("description"), im.m.About)
	im.name = cmp.Or(slug(n.str("name")), im.name)
	for _, m := range n.get("models").members() {
		im.oneTableModel(n, m, t)
	}
	for _, m := range n.get("queries").members() {
		im.loss(
			m, "query "+clip(m.key), "saved queries have values, not fields",
			"add it as a pattern with conditions on fields",
		)
	}
	for _, m := range n.get("items").elems() {
		if it, ok := im.item(m); ok {
			im.held = append(im.held, row{t: t, it: it, n: m})
		}
	}
}

// oneTableKeys returns a table with the indexes of a schema. Several schemas can share the table, so it takes the
// types of key attributes from the models of all schemas.
func (im *importer) oneTableKeys(name string, n *node, schemas []*node) *model.Table {
	var models []*node
	for _, of := range schemas {
		models = append(models, of.get("models").members()...)
	}
	key := func(n *node) (all []model.Attribute) {
		for _, m := range n.orElems() {
			if !m.isText() || m.text == "" {
				continue
			}
			a := model.Attribute{Name: m.text, Kind: attr.String}
			for _, of := range models {
				if f := of.get(a.Name); f != nil {
					a.Kind = oneTableKind(n, f)
					break
				}
			}
			all = append(all, a)
		}
		return all
	}

	t := &model.Table{Name: name}
	primary := n.get("indexes").get("primary")
	t.Partition, t.Sort = key(primary.get("hash")), key(primary.get("sort"))
	for _, x := range n.get("indexes").members() {
		if x == primary {
			continue
		}
		index := &model.Index{Name: x.key, Local: x.str("type") == "local", Sort: key(x.get("sort"))}
		if index.Partition = key(x.get("hash")); index.Local {
			index.Partition = t.Partition
		}
		index.Projection, index.Include = schemaProjection(x.get("project"), "keys")
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

// schemaProjection returns the projection of an index. A schema declares it as a list of attributes, or as a word.
// The word onlyKeys means KEYS_ONLY, and any other word means ALL.
func schemaProjection(n *node, onlyKeys string) (kind string, include []string) {
	switch {
	case n.isList():
		return projection("INCLUDE", n.texts())
	case n.isText() && n.text == onlyKeys:
		return projection("KEYS_ONLY", nil)
	}
	return projection("ALL", nil)
}

// oneTableDate returns the type in which the library stores a date. This is seconds for a time to live, ISO text with
// the option isoDates, and else milliseconds. The specification of the schema says seconds for all numbers, but the
// library divides by 1000 only for ttl.
func oneTableDate(schema, f *node) keys.Type {
	switch {
	case f.get("ttl").isTrue():
		return keys.Type{Name: "epoch"}
	case f.get("isoDates").isTrue() || schema.get("params").get("isoDates").isTrue():
		return keys.Type{Name: "millis"}
	}
	return keys.Type{Name: "epochms"}
}

// schemaType returns the type of a field's values. It reports false if neither a key nor a field can have such
// values.
func schemaType(schema, f *node) (typ keys.Type, ok bool) {
	switch strings.ToLower(f.str("type")) {
	case "", "string":
	case "number":
		typ.Name = "number"
	case "date":
		typ = oneTableDate(schema, f)
	default:
		return typ, false
	}
	if g := f.str("generate"); g == "ulid" || g == "uuid" {
		typ.Name = g
	}
	return typ, true
}

// isBinary reports whether the values of a field are binary data, which a key can have, but not a field of a model.
func isBinary(f *node) bool {
	return slices.Contains([]string{"binary", "buffer", "arraybuffer", "uint8array"}, strings.ToLower(f.str("type")))
}

// oneTableKind returns the type of the attribute that stores a field.
func oneTableKind(schema, f *node) attr.Kind {
	if isBinary(f) {
		return attr.Binary
	}
	typ, _ := schemaType(schema, f)
	return kindOf(typ)
}

// oneTableLost lists properties of attributes that affect keys and items but that a model does not have. It maps each
// to the reason for the loss.
var oneTableLost = map[string]string{
	"unique": "the library ensures uniqueness with its own items, which a model does not have",
	"encode": "the library puts it into another attribute",
}

// oneTableModel declares the entity that a OneTable model describes.
func (im *importer) oneTableModel(schema, n *node, t *model.Table) {
	typeField := cmp.Or(schema.get("params").str("typeField"), "_type")
	d := &declared{name: n.key, n: n, t: t, constants: [][2]string{{typeField, n.key}}}
	im.untyped(n, n.key, n.members())
	for _, f := range n.members() {
		for _, m := range f.members() {
			if why := oneTableLost[m.key]; why != "" && !m.vacant() {
				im.skip(d, f.key+" ("+m.key+")", why)
			}
		}
		stored := cmp.Or(f.str("map"), f.key)
		typ, ok := schemaType(schema, f)
		value := f.get("value")
		switch {
		case value.isText():
			continue
		case !value.vacant():
			im.loss(value, "the value of "+f.key+" in "+n.key, "it is a function of the program", "write a template")
			continue
		case f.key == typeField:
			continue
		case strings.Contains(stored, "."):
			im.skip(d, f.key, "it is packed into another attribute")
			continue
		}
		var values []string
		for _, v := range f.get("enum").texts() {
			if _, err := typ.Encode(v); err == nil {
				values = append(values, v)
			}
		}
		im.field(d, f, stored, typ, ok, values)
	}
	if !schema.get("params").get("timestamps").vacant() {
		for _, part := range []string{"created", "updated"} {
			name := cmp.Or(schema.get("params").str(part+"Field"), part)
			if d.field(name) == nil && name == fieldName(name) {
				d.addField(name, name, oneTableDate(schema, nil), nil)
			}
		}
	}

	for _, f := range n.members() {
		value := f.get("value")
		if !value.isText() {
			continue
		}
		stored := cmp.Or(f.str("map"), f.key)
		if _, ok := schemaType(schema, f); !ok && !isBinary(f) {
			im.skip(d, f.key, "a template makes a string, not "+clip(f.str("type")))
			continue
		}
		src, err := oneTableTemplate(strings.ReplaceAll(value.text, "${"+typeField+"}", n.key), d)
		if err != nil {
			im.loss(value, "the value of "+f.key+" in "+n.key, err.Error(), "")
			continue
		}
		kind := cmp.Or(t.Kinds()[stored], oneTableKind(schema, f))
		d.keys = append(d.keys, declaredKey{value, stored, kind, src})
	}
	im.declare(d)
}

// oneTableTemplate converts account#${id} to account#{id}, and ${n:8} or ${n:8:0}
// to {n:int(8)}: the width and the padding character, 0 by default
// (doc/schema-1.1.0.md of the library).
func oneTableTemplate(value string, d *declared) (string, error) {
	return replaceReferences(value, braces.Replace, func(ref string) (string, error) {
		parts := strings.Split(ref, ":")
		name := strings.TrimSpace(parts[0])
		if name == "" || name != fieldName(name) {
			return "", fmt.Errorf("${%s} is not a valid field name", clip(parts[0]))
		}
		if len(parts) == 1 {
			return "{" + name + "}", nil
		}
		typ, fits := padded(parts[1], strings.Join(parts[2:], ":"))
		if !fits {
			return "", fmt.Errorf("template types do not support the padding of ${%s}", clip(ref))
		}
		if f := d.field(name); f != nil && (f.Type.Name == "" || f.Type.Name == "number") {
			f.Type = typ
		}
		return "{" + name + ":" + typ.String() + "}", nil
	})
}
