package convert

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// A shaper infers the entity of a group. It infers a template for each key attribute, and fields for the components
// of these templates and for the other attributes.
type shaper struct {
	t *model.Table
	g *group
	e *model.Entity
	// columns has the values of each component found so far, by row; "" means that the row has no value.
	columns map[string][]string
}

// infer infers an entity from the items of a group. It returns nil if it finds no template for a key attribute of the
// table.
func (im *importer) infer(t *model.Table, g *group) *model.Entity {
	s := &shaper{t: t, g: g, columns: map[string][]string{}, e: &model.Entity{Table: t}}
	for _, a := range t.AllKeys() {
		sort := func(list []model.Attribute) bool { return slices.Contains(list, a) }
		sorts := sort(t.Sort) || slices.ContainsFunc(t.Indexes, func(x *model.Index) bool { return sort(x.Sort) })
		if s.e.Attribute(a.Name) == nil && !s.key(a, sorts) && t.Has(a.Name) {
			return nil
		}
	}
	s.attributes()
	for i, f := range s.e.Fields {
		if s.columns[f.Name] != nil {
			s.e.Fields[i] = im.share(f)
		}
	}
	return s.e
}

// share lets entities share fields. If the model has a field with the name, type and values of f, share returns it.
// If the model has no field of that name, share adds f to the model. If it has a different field of that name, share
// returns f, which then belongs to the entity alone.
func (im *importer) share(f *model.Field) *model.Field {
	have := im.shared[f.Name]
	switch {
	case have == nil:
		im.shared[f.Name] = f
		im.m.Fields = append(im.m.Fields, f)
	case have.Type.String() == f.Type.String() && slices.Equal(have.Values, f.Values):
		return have
	}
	return f
}

// unlike stands in a column for a value that is neither text nor a number.
const unlike = "\x00"

// column returns the values of an attribute, one for each row.
func (s *shaper) column(name string) []string {
	column := make([]string, len(s.g.rows))
	for i, r := range s.g.rows {
		switch v := r.it.Get(name); v.Kind() {
		case 0:
		case attr.String, attr.Number:
			column[i] = model.TextOf(v)
		default:
			column[i] = unlike
		}
	}
	return column
}

// key infers the template of a key attribute and reports whether it found one. sort is true if the attribute is in a
// sort key.
func (s *shaper) key(a model.Attribute, sort bool) bool {
	var values []string
	has := make([]bool, len(s.g.rows))
	for i, r := range s.g.rows {
		if v := r.it.Get(a.Name); v.Kind() == a.Kind {
			values, has[i] = append(values, model.TextOf(v)), true
		}
	}
	if len(values) == 0 {
		return false
	}

	whole := piece{typ: keys.Type{Name: "string"}, parts: values}
	if a.Kind == attr.Number {
		whole.typ.Name = "number"
	}
	attempts := [][]piece{{whole}}
	if a.Kind == attr.String {
		pieces := inferPieces(values, sort)
		// If the attribute has a descriptive name, the whole of EMP-7 is the value. If its name is generic, such as
		// PK, EMP- is a label and 7 the value.
		if generic().MatchString(a.Name) || len(pieces) == 1 || pieces[0].parts != nil ||
			strings.ContainsAny(pieces[0].literal, strong) {
			attempts = [][]piece{pieces, {whole}}
		}
	}
	var when map[string][]string
	sparse := len(values) < len(has)
	if sparse {
		when = s.when(has)
	}
	for _, pieces := range attempts {
		components := slices.DeleteFunc(slices.Clone(pieces), func(p piece) bool { return p.parts == nil })
		if sparse && when == nil && len(components) == 0 {
			continue // a template without components would give every item the attribute
		}
		names := s.names(a, components, has, when)
		t, err := keys.Parse(source(pieces, names))
		if err == nil && roundTrips(t, values) {
			s.add(&model.Template{Name: a.Name, Kind: a.Kind, Template: t, When: when})
			return true
		}
		for _, name := range names {
			if s.e.Field(name) == nil {
				delete(s.columns, name)
			}
		}
	}
	return false
}

// add adds the template of an attribute, and the fields that the template needs.
func (s *shaper) add(t *model.Template) {
	s.e.Attributes = append(s.e.Attributes, t)
	for _, p := range t.Template.Parts() {
		if p.Name == "" || s.e.Field(p.Name) != nil {
			continue
		}
		f := &model.Field{Name: p.Name, Distribution: model.Distribution{Name: "uniform"}}
		if p.Type.Name != "string" {
			f.Type = p.Type
		}
		s.e.Fields = append(s.e.Fields, f)
	}
}

// names returns a name for each component of an attribute. It tries the following names in this order: that of a
// component with the same values, the alias (only for the last component), that of an attribute with the same values,
// one made of the label before the component, and that of the attribute.
func (s *shaper) names(a model.Attribute, components []piece, has []bool, when map[string][]string) (names []string) {
	alias, own := fieldName(s.g.aliases[a.Name]), ""
	if generic().MatchString(alias) {
		alias = "" // Workbench uses the attribute's name as the default alias
	}
	if len(components) == 1 {
		own = fieldName(a.Name)
	}
	fresh := when != nil || !slices.Contains(has, false)
	for i, p := range components {
		column := make([]string, len(has))
		parts := p.parts
		for k := range has {
			if has[k] {
				column[k], _ = p.typ.Decode(parts[0])
				parts = parts[1:]
			}
		}
		// If only some items have the attribute, at least one of its fields must be missing in the others. Otherwise,
		// the model would build the attribute for all items.
		last := i == len(components)-1
		name := ""
		if fresh || !last {
			name = s.shared(p, column, names)
		}
		if name == "" {
			var wishes []string
			if last {
				wishes = append(wishes, alias)
			}
			if fresh || !last {
				wishes = append(wishes, s.attributeLike(p.typ, column, when != nil))
			}
			if p.label == "" {
				wishes = append(wishes, own)
			}
			name = s.pick(column, own, append(wishes, labelName(p), own, cmp.Or(fieldName(a.Name), "key")))
			s.columns[name], fresh = column, true
		}
		names = append(names, name)
	}
	return names
}

// distinctive reports whether a column has such values that another column with equal values is probably the same
// field. This is so if the values differ, or if they have at least 8 bytes in total.
func distinctive(column []string) bool {
	values := slices.DeleteFunc(slices.Clone(column), func(v string) bool { return v == "" })
	return len(values) > 0 && !same(values) || len(strings.Join(values, "")) >= 8
}

// shared returns the name of a field that has the same values as column, in all rows in which column has a value. The
// values must be distinctive or the label must match too, because short equal values can be a coincidence.
func (s *shaper) shared(p piece, column, taken []string) string {
	for _, f := range s.e.Fields {
		have := s.columns[f.Name]
		equal := cmp.Or(f.Type.Name, "string") == p.typ.Name && f.Type.Width == p.typ.Width &&
			!slices.Contains(taken, f.Name) && (f.Name == labelName(p) || distinctive(column))
		for i, v := range column {
			equal = equal && (v == "" || have[i] == v)
		}
		if equal {
			return f.Name
		}
	}
	return ""
}

// attributeLike returns the name of an attribute with the same values as column, or "". If conditional is true,
// column has values only in some rows. attributeLike then compares only these rows, and copies the attribute's values
// to the others.
func (s *shaper) attributeLike(typ keys.Type, column []string, conditional bool) string {
	if !distinctive(column) {
		return ""
	}
	for name := range s.g.rows[0].it.All() {
		n := string(name)
		if n != fieldName(n) || s.t.IsKey(n) || s.e.Field(n) != nil {
			continue
		}
		values, equal := s.column(n), true
		for i, v := range values {
			equal = equal && (v == column[i] || conditional && column[i] == "" && decodes(typ, v))
		}
		if equal {
			copy(column, values)
			return n
		}
	}
	return ""
}

// pick returns the first name in wishes that is free. If none is free, it appends a number to the first. If the
// attribute has only this component, own is the name of the attribute, which the component may use.
func (s *shaper) pick(column []string, own string, wishes []string) string {
	free := func(name string) bool {
		if s.columns[name] != nil {
			return false
		}
		have := s.column(name)
		return name == own || !s.t.IsKey(name) && (slices.Equal(have, column) || strings.Join(have, "") == "")
	}
	wishes = slices.DeleteFunc(wishes, func(name string) bool { return name == "" })
	if i := slices.IndexFunc(wishes, free); i >= 0 {
		return wishes[i]
	}
	return numbered(wishes[0], free)
}

var stateName = text.Pattern(`(?i)(status|state|phase|stage)$`)

// when returns a condition that selects exactly the rows in has, or nil if it finds none. It looks for a state
// attribute whose values in these rows differ from its values in all other rows. The condition lists the values in
// these rows.
func (s *shaper) when(has []bool) map[string][]string {
	for name := range s.g.rows[0].it.All() {
		n := string(name)
		if n != fieldName(n) || s.t.IsKey(n) || !stateName().MatchString(n) {
			continue
		}
		column, values := s.column(n), map[bool][]string{}
		for i, v := range column {
			if !slices.Contains(values[has[i]], v) {
				values[has[i]] = append(values[has[i]], v)
			}
		}
		both := func(v string) bool { return slices.Contains(values[false], v) }
		// The condition uses a field, so the field must have the same values as the attribute.
		if all(column, word().MatchString) && len(values[true]) <= fewValues &&
			!slices.ContainsFunc(values[true], both) &&
			(s.columns[n] == nil || slices.Equal(s.columns[n], column)) {
			return map[string][]string{n: values[true]}
		}
	}
	return nil
}

// attributes adds the attributes whose values are all strings, or all numbers. The attribute with the kind of the
// item becomes a constant. An attribute that contains only a component gets a template. Every other attribute becomes
// a field.
func (s *shaper) attributes() {
	kinds := map[string]attr.Kind{}
	var order []string
	for _, r := range s.g.rows {
		for name, v := range r.it.All() {
			n := string(name)
			if kinds[n] == 0 {
				order, kinds[n] = append(order, n), v.Kind()
			} else if kinds[n] != v.Kind() {
				kinds[n] = attr.Map // the types differ between items, so do not declare the attribute
			}
		}
	}
	var own []*model.Template
	for _, n := range order {
		k, column := kinds[n], s.column(n)
		if s.t.IsKey(n) || n != fieldName(n) || k != attr.String && k != attr.Number {
			continue
		}
		if n == s.g.constant || slices.Contains(kindAttributes, n) && len(column) > 1 && same(column) {
			s.e.Attributes = append(s.e.Attributes, &model.Template{Name: n, Kind: k, Const: s.g.rows[0].it.Get(n)})
			continue
		}

		p := piece{typ: keys.Type{Name: "string"}, parts: column}
		if f := s.e.Field(n); f != nil && f.Type.Name != "" {
			p.typ = f.Type
		}
		if k == attr.Number {
			p.typ = keys.Type{Name: "number"}
		}
		if have := s.columns[n]; have != nil && !slices.Equal(have, column) {
			continue
		}
		src, add := source([]piece{p}, []string{n}), s.add
		if s.columns[n] == nil {
			// The template needs no type, because the field has one. Add these attributes after the others, as model
			// files do.
			src, add = "{"+n+"}", func(t *model.Template) { own = append(own, t) }
		}
		t, err := keys.ParseWith(src, map[string]keys.Type{n: p.typ})
		if err == nil && all(column, func(v string) bool { return v == "" || decodes(p.typ, v) }) {
			add(&model.Template{Name: n, Kind: k, Template: t})
		}
	}
	for _, t := range own {
		s.add(t)
	}
}
