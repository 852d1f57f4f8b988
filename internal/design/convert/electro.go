package convert

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

// isElectro reports whether n is the schema of an entity.
func isElectro(n *node) bool {
	return n.get("attributes").isObject() && n.get("indexes").isObject() &&
		(n.get("model").isObject() || n.str("entity") != "")
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

// electro reads the files of ElectroDB schemas. A schema that does not name its table is in the one that
// the others name, or, if they name several, in that of the first one.
func (im *importer) electro(docs []*document) error {
	var list []*node
	for _, d := range docs {
		im.derived = true
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
	}

	name := cmp.Or(im.o.Table, electroName(list))
	tables := map[*node]*model.Table{}
	for _, n := range list {
		if !isElectro(n) {
			im.loss(n, "this value", "it is not an ElectroDB schema", "")
			continue
		}
		own := n.str("table")
		if im.o.Table != "" {
			own = ""
		}
		if name == "" {
			name = cmp.Or(own, im.tableFor(n.doc))
		}

		t, err := im.joinTable(electroTable(cmp.Or(own, name), n), n, "entity "+newElectroSchema(n).entity)
		if err != nil {
			return err
		}
		tables[n] = t
	}

	for _, n := range list {
		if t := tables[n]; t != nil {
			s := newElectroSchema(n)
			if err := im.declareOnce(s.entity+" version "+s.version+" of table "+t.Name, n); err != nil {
				return err
			}
			im.electroEntity(t, n)
		}
	}
	return nil
}

// electroName returns the table that schemas name, or "" if they name several or none.
func electroName(list []*node) string {
	name := ""
	for _, n := range list {
		own := n.str("table")
		if isElectro(n) && own != "" && name != "" && own != name {
			return ""
		}
		if isElectro(n) {
			name = cmp.Or(name, own)
		}
	}
	return name
}

// electroTable returns a table with the key and the indexes that a schema uses.
func electroTable(name string, n *node) *model.Table {
	t := &model.Table{Name: name}
	for _, x := range n.get("indexes").members() {
		key := func(part string) []model.Attribute {
			if f := x.get(part).str("field"); f != "" {
				return []model.Attribute{{Name: f, Kind: electroKind(n, x.get(part))}}
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
			index := &model.Index{Name: name, Local: local, Partition: key("pk"), Sort: key("sk")}
			index.Projection, index.Include = electroProjection(x.get("projection"))
			t.Indexes = append(t.Indexes, index)
		}
	}
	return t
}

// electroProjection returns the projection of an index: all, keys_only, or a list of attributes.
func electroProjection(n *node) (kind string, include []string) {
	for _, m := range n.elems() {
		if m.isText() {
			include = append(include, m.text)
		}
	}
	switch {
	case len(include) > 0:
		return "INCLUDE", include
	case n.isText() && n.text == "keys_only":
		return "KEYS_ONLY", nil
	}
	return "ALL", nil
}

// electroConstant returns the only value that an attribute can have: the single one of its type, which
// is also its default. It is "" for other attributes.
func electroConstant(n, a *node) string {
	list := a.get("type").elems()
	if len(list) != 1 || !list[0].isText() || a.str("default") != list[0].text {
		return ""
	}
	for _, x := range n.get("indexes").members() {
		for _, part := range []string{"pk", "sk"} {
			if slices.Contains(composites(x.get(part)), a.key) {
				return ""
			}
		}
	}
	return list[0].text
}

func (im *importer) electroEntity(t *model.Table, n *node) {
	s := newElectroSchema(n)
	im.loseUnknown(n, "model", "attributes", "indexes", "entity", "service", "version", "table")
	d := im.declare(s.entity, "", t, n)
	im.untyped(n, s.entity, n.get("attributes").members())
	var order []string
	for _, a := range n.get("attributes").members() {
		if v := electroConstant(n, a); v != "" {
			d.e.Attributes = append(d.e.Attributes, &model.Template{
				Name: cmp.Or(a.str("field"), a.key), Kind: attr.String, Const: attr.NewString(v),
			})
			continue
		}
		if a.key != fieldName(a.key) {
			d.skip(a.key, "it is not a valid field name")
			continue
		}
		im.electroField(d, a)
		order = append(order, a.key)
	}

	lower := false
	for _, x := range n.get("indexes").members() {
		im.loseUnknown(x, "index", "collection", "pk", "sk", "type", "scope", "condition", "projection")
		if !x.get("condition").vacant() {
			im.loss(
				x.get("condition"), "the condition of index "+x.key+" of "+s.entity, "it is a function of the program",
				"",
			)
		}
		for _, part := range []string{"pk", "sk"} {
			key := x.get(part)
			if !key.isObject() {
				continue
			}
			im.loseUnknown(key, "field", "composite", "facets", "template", "casing", "cast")
			src, err := s.template(x, part, d)
			if err != nil {
				im.loss(key, "the key "+part+" of index "+x.key+" of "+s.entity, err.Error(), "write its template")
				continue
			}
			kind := electroKind(n, key)
			if k := t.Kinds()[key.str("field")]; k != 0 && k != kind {
				im.loss(
					key, "the key "+part+" of index "+x.key+" of "+s.entity,
					"another entity has this key with another type", "",
				)
				continue
			}
			lower = lower || kind == attr.String && casingOf(key) == "lower"
			d.template(key, key.str("field"), kind, src)
		}
	}

	if lower {
		im.loss(
			n.get("indexes"), "the casing of keys of "+s.entity,
			"the library converts values in keys to lower case, but templates do not",
			"write the values of samples in lower case, or set the casing of keys to none",
		)
	}

	// The schema can store attributes under other names.
	for _, a := range n.get("attributes").members() {
		f := a.str("field")
		if f == "" || f == a.key || d.fields[a.key] == nil {
			continue
		}
		d.elsewhere[a.key] = true
		if d.e.Attribute(f) == nil && d.fields[f] == nil {
			kind := t.Kinds()[f]
			if kind == 0 {
				kind = kindOf(d.fields[a.key].Type)
			}
			d.template(a, f, kind, "{"+a.key+"}")
		}
	}

	for _, c := range [][2]string{{"__edb_e__", s.entity}, {"__edb_v__", s.version}} {
		if c[1] != "" && d.e.Attribute(c[0]) == nil && d.fields[c[0]] == nil {
			d.e.Attributes = append(
				d.e.Attributes, &model.Template{Name: c[0], Kind: attr.String, Const: attr.NewString(c[1])},
			)
		}
	}

	d.finish(order)
}

// electroField declares the type of an attribute.
func (im *importer) electroField(d *declared, a *node) {
	typ := keys.Type{}
	var values []string
	t := a.get("type")
	switch {
	case t.isList():
		for _, v := range t.list {
			if v.isText() && v.text != "" {
				values = append(values, v.text)
			}
		}
	case t.isText() && t.text == "number":
		typ.Name = "number"
	case t.isText() && t.text != "string":
		d.skip(a.key, "a field must be a string or a number, not "+clip(t.text)+"; samples can have the attribute")
		return
	}

	if p := a.get("padding"); p != nil {
		width, err := strconv.Atoi(p.get("length").numeral())
		if c := p.str("char"); err == nil && width > 0 && width <= 38 && (c == "0" || c == "") {
			typ = keys.Type{Name: "int", Width: width}
		} else {
			im.loss(p, "the padding of "+a.key, "template types do not support this padding", "")
		}
	}

	d.field(a.key, typ, values)
}

// numeral returns the text of a number, or "".
func (n *node) numeral() string {
	if n == nil || n.kind != '0' {
		return ""
	}
	return n.text
}
