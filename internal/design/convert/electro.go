package convert

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
)

// isElectro reports whether n is the schema of an ElectroDB entity.
func isElectro(n *node) bool {
	return n.get("attributes").isObject() && n.get("indexes").isObject() && n.get("model").isObject()
}

// electroList returns the schemas in a value. The value can be a schema, a list of schemas, or a service. A service
// is an object with schemas as members. The schemas can also be members of its member entities.
func electroList(n *node) (all []*node) {
	if isElectro(n) {
		return []*node{n}
	}
	if m := n.get("entities"); m.isObject() {
		n = m
	}
	for _, m := range append(n.members(), n.elems()...) {
		if inner := m.get("schema"); inner != nil {
			m = inner
		}
		if isElectro(m) {
			all = append(all, m)
		}
	}
	return all
}

// electroTable returns a table that has the key and the indexes of a schema.
func electroTable(name string, n *node, _ []*node) *model.Table {
	t := &model.Table{Name: name}
	for _, x := range n.get("indexes").members() {
		key := func(part string) []model.Attribute {
			if f := x.get(part).str("field"); f != "" {
				return []model.Attribute{{Name: f, Kind: electroKind(n, x.get(part))}}
			}
			return nil
		}
		name := x.str("index")
		switch {
		case name == "" && len(t.Partition) == 0:
			t.Partition, t.Sort = key("pk"), key("sk")
		case name != "" && t.Index(name) == nil:
			local := len(t.Partition) > 0 && slices.Equal(key("pk"), t.Partition)
			index := &model.Index{Name: name, Local: local, Partition: key("pk"), Sort: key("sk")}
			index.Projection, index.Include = schemaProjection(x.get("projection"), "keys_only")
			t.Indexes = append(t.Indexes, index)
		}
	}
	return t
}

// electroVersion returns the version of a schema's entity.
func electroVersion(n *node) string { return cmp.Or(n.get("model").str("version"), "1") }

// electroEntity declares the entity that a schema describes.
func (im *importer) electroEntity(n *node, t *model.Table) {
	name := n.get("model").str("entity")
	constants := [][2]string{{"__edb_e__", name}, {"__edb_v__", electroVersion(n)}}
	d := &declared{name: name, n: n, t: t, constants: constants}
	im.untyped(n, name, n.get("attributes").members())
	for _, a := range n.get("attributes").members() {
		im.electroField(d, a)
	}

	lower := false
	for _, x := range n.get("indexes").members() {
		if !x.get("condition").vacant() {
			im.loss(
				x.get("condition"), "the condition of index "+x.key+" of "+name, "it is a function of the program", "",
			)
		}
		for _, part := range []string{"pk", "sk"} {
			key := x.get(part)
			if !key.isObject() {
				continue
			}
			src, err := electroTemplate(n, x, part, d)
			kind := electroKind(n, key)
			if k := t.Kinds()[key.str("field")]; err == nil && k != 0 && k != kind {
				err = errors.New("another entity has this key with another type")
			}
			if err != nil {
				im.loss(key, "the key "+part+" of index "+x.key+" of "+name, err.Error(), "write its template")
				continue
			}
			lower = lower || kind == attr.String && key.str("casing") != "none" && key.str("casing") != "upper"
			d.keys = append(d.keys, declaredKey{key, key.str("field"), kind, src})
		}
	}
	if lower {
		im.loss(
			n.get("indexes"), "the casing of keys of "+name,
			"the library converts values in keys to lower case, but templates do not",
			"write the values of samples in lower case, or set the casing of keys to none",
		)
	}
	im.declare(d)
}

// electroField declares the field of an attribute. The attribute's type may be a list of values.
func (im *importer) electroField(d *declared, a *node) {
	typ, ok := schemaType(nil, a)
	if p := a.get("padding"); p != nil {
		if wide, fits := padded(string(p.get("length").raw()), p.str("char")); fits {
			typ = wide
		} else {
			im.loss(p, "the padding of "+a.key, "template types do not support this padding", "")
		}
	}
	im.field(d, a, cmp.Or(a.str("field"), a.key), typ, ok, a.get("type").texts())
}

// composites returns the names of the attributes that a key is composed of, in order.
func composites(key *node) []string {
	names := key.get("composite").texts()
	if names == nil {
		for _, m := range reference().FindAllStringSubmatch(key.str("template"), -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// isAttribute reports whether the schema stores an attribute under the name stored.
func isAttribute(n *node, stored string) bool {
	return slices.ContainsFunc(n.get("attributes").members(), func(a *node) bool {
		return cmp.Or(a.str("field"), a.key) == stored
	})
}

// electroKind returns the type of a key attribute. This is N if the key consists of a single attribute of type
// number, and else S.
func electroKind(n, key *node) attr.Kind {
	list, template := composites(key), key.str("template")
	if len(list) == 1 && (template == "${"+list[0]+"}" || template == "" && isAttribute(n, key.str("field"))) &&
		n.get("attributes").get(list[0]).str("type") == "number" {
		return attr.Number
	}
	return attr.String
}

// electroTemplate returns the template of a key. The forms of keys are documented at
// https://electrodb.dev/en/modeling/indexes/ and /collections/. They are implemented by _makeKeyFixings and _makeKey
// in the library's src/entity.js:
//
//	pk   $service[_scope]#label_value…
//	sk   $entity_version#label_value…
//	     $collection#subcollection#entity_version#label_value…   in collections
//	     $collection#label_value…#entity_version                 when clustered
//
// If an index has only a partition key, this key also contains the start of the sort key. Keys with a template of
// their own, and keys that are attributes of the entity, have no such prefixes. Keys and the values in them are in
// lower case unless casing says otherwise.
func electroTemplate(n, x *node, part string, d *declared) (string, error) {
	key := x.get(part)
	if key.str("field") == "" {
		return "", errors.New("it has no field")
	}
	literal := func(s string) string {
		switch key.str("casing") {
		case "none":
		case "upper":
			s = strings.ToUpper(s)
		default:
			s = strings.ToLower(s)
		}
		return braces.Replace(s)
	}
	component := func(name string) (string, error) {
		if d.field(name) == nil {
			return "", fmt.Errorf("%q is not an attribute with a key type", clip(name))
		}
		return "{" + name + "}", nil
	}

	list := composites(key)
	if t := key.str("template"); t != "" {
		return replaceReferences(t, literal, component)
	}
	if len(list) == 1 && isAttribute(n, key.str("field")) {
		return component(list[0])
	}

	prefix, postfix := electroFixings(n, x, part)
	src := literal(prefix)
	for _, name := range list {
		c, err := component(name)
		if err != nil {
			return "", err
		}
		label := cmp.Or(n.get("attributes").get(name).str("label"), name)
		src += literal("#"+label+"_") + c
	}
	return src + literal(postfix), nil
}

// electroFixings returns the constant text before and after the values of a key.
func electroFixings(n, x *node, part string) (prefix, postfix string) {
	m := n.get("model")
	pk, sk := "$"+m.str("service"), ""
	own := m.str("entity") + "_" + electroVersion(n)
	collections := x.get("collection").texts()
	if c := x.str("collection"); c != "" {
		collections = []string{c}
	}
	if len(collections) > 0 {
		sk, own = "$"+strings.Join(collections, "#"), "#"+own
	} else {
		own = "$" + own
	}
	if scope := x.str("scope"); scope != "" {
		pk += "_" + scope
	}
	if x.str("type") == "clustered" {
		postfix = own
	} else {
		sk += own
	}
	switch {
	case part == "sk":
		return sk, postfix
	case !x.get("sk").isObject():
		return pk + sk + postfix, ""
	}
	return pk, ""
}
