package convert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/design"
	"github.com/sortkey/sortkey/keys"
)

// isElectro reports whether n is the schema of one entity.
func isElectro(n *node) bool {
	return n.get("attributes").isObject() && n.get("indexes").isObject() && (n.get("model").isObject() || n.str("entity") != "")
}

// electroList returns the schemas in a service: an object of schemas by name,
// or one under entities.
func electroList(n *node) (all []*node) {
	if m := n.get("entities"); m.isObject() {
		n = m
	}
	for _, m := range n.members() {
		s := m
		if inner := m.get("schema"); inner != nil {
			s = inner
		}
		if !isElectro(s) {
			return nil
		}
		all = append(all, s)
	}
	return all
}

// electro reads ElectroDB schemas, all of them in one table.
func (im *importer) electro(d *document) {
	im.derived = true
	var list []*node
	for _, n := range d.roots {
		switch {
		case isElectro(n):
			list = append(list, n)
		case n.isList():
			list = append(list, n.list...)
		default:
			list = append(list, electroList(n)...)
		}
	}
	t := &design.Table{Name: im.tableFor(d)}
	var first *node
	for _, n := range list {
		if !isElectro(n) {
			im.lose(n, "this value", "it is no ElectroDB schema", "")
			continue
		}
		if first == nil {
			first = n
			if name := n.str("table"); name != "" && im.o.Table == "" {
				t.Name = name
			}
		}
		im.electroIndexes(t, n)
	}
	if first == nil || im.addTable(t, first) == nil {
		return
	}
	for _, n := range list {
		if isElectro(n) {
			im.electroEntity(t, n)
		}
	}
}

// electroIndexes adds the table's key and indexes that a schema uses.
func (im *importer) electroIndexes(t *design.Table, n *node) {
	for _, x := range n.get("indexes").members() {
		key := func(part string) []design.Attribute {
			if f := x.get(part).str("field"); f != "" {
				return []design.Attribute{{Name: f, Kind: attr.String}}
			}
			return nil
		}
		name := x.str("index")
		if name == "" {
			if len(t.Partition) == 0 {
				t.Partition, t.Sort = key("pk"), key("sk")
			}
			continue
		}
		if t.Index(name) == nil {
			local := len(t.Partition) > 0 && slices.Equal(key("pk"), t.Partition)
			t.Indexes = append(t.Indexes, &design.Index{Name: name, Local: local, Partition: key("pk"), Sort: key("sk"), Projection: "ALL"})
		}
	}
}

func (im *importer) electroEntity(t *design.Table, n *node) {
	model := n.get("model")
	if !model.isObject() {
		model = n
	}
	name, service, version := model.str("entity"), model.str("service"), model.str("version")
	if v := model.get("version"); v != nil && v.kind == '0' {
		version = v.text
	}
	im.known(n, "model", "attributes", "indexes", "entity", "service", "version", "table")
	d := im.declare(name, "", t, n)
	var order []string
	labels := map[string]string{}
	for _, a := range n.get("attributes").members() {
		if a.key != fieldName(a.key) {
			d.leave(a.key, "it is no name for a field")
			continue
		}
		labels[a.key] = a.key
		if l := a.str("label"); l != "" {
			labels[a.key] = l
		}
		im.electroField(d, a)
		order = append(order, a.key)
	}
	lower := false
	for _, x := range n.get("indexes").members() {
		im.known(x, "index", "collection", "pk", "sk", "type", "scope")
		if s := x.str("type"); s == "clustered" || x.get("collection").isList() || !x.get("scope").vacant() || !x.get("condition").vacant() {
			im.lose(x, "index "+x.key+" of "+name, "only keys of isolated indexes in one collection, without scope and condition, are known", "write its templates")
			if x.str("index") == "" {
				return
			}
			continue
		}
		pk, sk := "$"+service, ""
		switch c := x.get("collection"); {
		case c.isText() && c.text != "":
			sk = "$" + c.text + "#" + name + "_" + version
		default:
			sk = "$" + name + "_" + version
		}
		if !x.get("sk").isObject() {
			pk += sk
		}
		for _, part := range []string{"pk", "sk"} {
			key, prefix := x.get(part), map[string]string{"pk": pk, "sk": sk}[part]
			if !key.isObject() {
				continue
			}
			im.known(key, "field", "composite", "facets", "template", "casing", "cast")
			casing := key.str("casing")
			if casing == "" || casing == "default" {
				casing = "lower"
			}
			lower = lower || casing == "lower"
			src, err := electroTemplate(key, prefix, casing, labels, d)
			if err != nil {
				im.lose(key, "the key "+part+" of index "+x.key+" of "+name, err.Error(), "write its template")
				continue
			}
			d.template(key, key.str("field"), attr.String, src)
		}
	}
	if lower {
		im.lose(n.get("indexes"), "the casing of keys of "+name, "the library writes values in keys in lower case; templates write them as they are", "write the values of samples in lower case, or give keys casing none")
	}
	for _, c := range [][2]string{{"__edb_e__", name}, {"__edb_v__", version}} {
		if c[1] != "" && d.e.Attribute(c[0]) == nil && d.fields[c[0]] == nil {
			d.e.Attributes = append(d.e.Attributes, &design.Template{Name: c[0], Kind: attr.String, Const: attr.NewString(c[1])})
		}
	}
	d.finish(order)
}

// electroField says the type of an attribute.
func (im *importer) electroField(d *declared, a *node) {
	typ := keys.Type{}
	var values []string
	switch t := a.get("type"); {
	case t.isList():
		for _, v := range t.list {
			if v.isText() && v.text != "" {
				values = append(values, v.text)
			}
		}
	case t.isText() && t.text == "number":
		typ.Name = "number"
	case t.isText() && t.text != "string":
		d.leave(a.key, "a field is a string or a number, not "+clip(t.text)+"; samples may have it as it is")
		return
	}
	if p := a.get("padding"); p != nil {
		width, err := strconv.Atoi(p.get("length").numeral())
		if c := p.str("char"); err == nil && width > 0 && width <= 38 && (c == "0" || c == "") {
			typ = keys.Type{Name: "int", Width: width}
		} else {
			im.lose(p, "the padding of "+a.key, "no type of a template pads so", "")
		}
	}
	d.field(a.key, typ, values)
}

// numeral is the text of a number, "" for anything else.
func (n *node) numeral() string {
	if n == nil || n.kind != '0' {
		return ""
	}
	return n.text
}

// electroTemplate writes the template of a key: its own, or the prefix and each
// composite attribute with its label.
func electroTemplate(key *node, prefix, casing string, labels map[string]string, d *declared) (string, error) {
	if key.str("field") == "" {
		return "", plainError("it names no field")
	}
	text := func(s string) string {
		switch casing {
		case "lower":
			s = strings.ToLower(s)
		case "upper":
			s = strings.ToUpper(s)
		}
		return braces.Replace(s)
	}
	component := func(name string) (string, error) {
		if d.fields[name] == nil {
			return "", fmt.Errorf("%q is no attribute with a type that keys can have", clip(name))
		}
		return "{" + name + "}", nil
	}
	var b strings.Builder
	if t := key.get("template"); t.isText() {
		at := 0
		for _, m := range reference.FindAllStringSubmatchIndex(t.text, -1) {
			c, err := component(t.text[m[2]:m[3]])
			if err != nil {
				return "", err
			}
			b.WriteString(text(t.text[at:m[0]]) + c)
			at = m[1]
		}
		b.WriteString(text(t.text[at:]))
		return b.String(), nil
	}
	b.WriteString(text(prefix))
	for _, m := range key.either("composite", "facets").elems() {
		c, err := component(m.text)
		if err != nil {
			return "", err
		}
		b.WriteString(text("#"+labels[m.text]+"_") + c)
	}
	return b.String(), nil
}
