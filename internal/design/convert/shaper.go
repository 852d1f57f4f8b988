package convert

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// A shaper infers the entity of a group: a template for each key attribute, and
// fields for components and other attributes.
type shaper struct {
	im   *importer
	t    *model.Table
	g    *group
	e    *model.Entity
	rows []*row
	// columns are the values of the components so far, by row.
	columns map[string][]cell
	plain   bool // each key attribute is one component
}

// A cell is a value of a component in its text form, if the row has one.
type cell struct {
	text string
	ok   bool
}

// share moves fields of templates to the model, so that entities share them by
// name if they have the same type.
func (s *shaper) share() {
	for i, f := range s.e.Fields {
		if _, component := s.columns[f.Name]; component {
			s.e.Fields[i] = s.im.share(f)
		}
	}
}

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

// infer infers an entity from the items of a group. If templates of several
// pieces do not fit most items, each key attribute becomes one component. It
// returns nil if that does not fit either.
func (im *importer) infer(t *model.Table, g *group) *model.Entity {
	for _, plain := range []bool{false, true} {
		s := &shaper{
			im: im, t: t, g: g, rows: g.rows, columns: map[string][]cell{}, plain: plain, e: &model.Entity{Table: t},
		}
		if !s.keys() {
			continue
		}
		s.constants()
		s.fields()
		fit := 0
		for _, r := range g.rows {
			if sample(s.e, r.it) != nil {
				fit++
			}
		}
		if 2*fit > len(g.rows) {
			s.share()
			return s.e
		}
	}
	return nil
}

func (s *shaper) kindType(k attr.Kind) keys.Type {
	if k == attr.Number {
		return keys.Type{Name: "number"}
	}
	return keys.Type{Name: "string"}
}

// keys infers the templates of key attributes, those of the table first. It
// reports false if it cannot infer one of the table's.
func (s *shaper) keys() bool {
	sort := map[string]bool{}
	for x, a := range s.t.AllKeys() {
		of := s.t.Sort
		if x != nil {
			of = x.Sort
		}
		sort[a.Name] = sort[a.Name] || slices.Contains(of, a)
	}
	for _, a := range s.t.AllKeys() {
		if s.e.Attribute(a.Name) != nil {
			continue
		}
		if !s.key(a, sort[a.Name]) && s.t.Has(a.Name) {
			return false
		}
	}
	return true
}

func (s *shaper) key(a model.Attribute, sort bool) bool {
	var values []string
	var at []int
	for i, r := range s.rows {
		if v := r.it.Get(a.Name); v.Kind() == a.Kind {
			values = append(values, keyText(v))
			at = append(at, i)
		}
	}
	if len(values) == 0 {
		return false
	}

	whole := []piece{{typ: s.kindType(a.Kind), parts: values}}
	attempts := [][]piece{whole}
	if a.Kind == attr.String && !s.plain {
		pieces := inferPieces(values, sort)
		// In an attribute with a descriptive name, EMP-7 is a value; in PK, a
		// label and a value.
		if generic().MatchString(a.Name) || len(pieces) == 1 || pieces[0].parts != nil ||
			strings.ContainsAny(pieces[0].literal, strong) {
			attempts = [][]piece{pieces, whole}
		}
	}

	sparse := len(values) < len(s.rows)
	when := map[string][]string(nil)
	if sparse {
		when = s.when(at)
		sparse = when == nil
	}

	for _, pieces := range attempts {
		if sparse && !slices.ContainsFunc(pieces, func(p piece) bool { return p.parts != nil }) {
			continue // every item would have the attribute
		}
		names, columns, ok := s.names(a, pieces, at, sparse, when != nil)
		if !ok {
			continue
		}
		t, err := keys.Parse(source(pieces, names))
		if err != nil || !roundTrips(t, values) {
			continue
		}
		for i, name := range names {
			if s.columns[name] == nil {
				s.columns[name] = columns[i]
			}
		}
		s.attribute(a, pieces, names)
		s.e.Attributes[len(s.e.Attributes)-1].When = when
		return true
	}
	return false
}

// generic matches names of attributes that do not describe the value.
var generic = text.Pattern(
	`(?i)^((g|l)?si?\d*[_-]?)?(pk|sk|hash|range|partition|sort|key|id)?` +
		`([_-]?(pk|sk|key|hash|range|value|attribute))?[_-]?\d*([_-]?(pk|sk))?$`,
)

// enoughRows is the number of items from which on they show a condition on any attribute;
// fewer show one on a state.
const enoughRows = 8

var stateName = text.Pattern(`(?i)(status|state|phase|stage)$`)

// when finds a condition that selects exactly some rows: an attribute of all
// items, such as a status, with different values in those rows. It returns nil
// if there is none.
func (s *shaper) when(at []int) map[string][]string {
	few := len(s.rows) < enoughRows // any attribute with few values would do
	for name, v := range s.rows[0].it.All() {
		n := string(name)
		if v.Kind() != attr.String || n != fieldName(n) || s.t.IsKey(n) || few && !stateName().MatchString(n) {
			continue
		}

		values := map[bool][]string{}
		repeated, good := false, true
		for i, r := range s.rows {
			v := r.it.Get(n)
			if good = v.Kind() == attr.String && word().Match(v.Raw()) && len(v.Raw()) <= 40; !good {
				break
			}
			in := slices.Contains(at, i)
			if slices.Contains(values[in], keyText(v)) {
				repeated = true
			} else {
				values[in] = append(values[in], keyText(v))
			}
		}

		if !good || !repeated || len(values[true]) > 10 ||
			slices.ContainsFunc(values[true], func(v string) bool { return slices.Contains(values[false], v) }) {
			continue
		}
		// The field must have the name of its attribute.
		if f := s.e.Field(n); f != nil && (s.columns[n] == nil || !s.equals(n, s.columns[n])) {
			continue
		}
		return map[string][]string{n: values[true]}
	}
	return nil
}

// attribute adds the template of a key attribute and its fields.
func (s *shaper) attribute(a model.Attribute, pieces []piece, names []string) {
	src := source(pieces, names)
	t, err := keys.Parse(src)
	if err != nil {
		return
	}
	s.e.Attributes = append(s.e.Attributes, &model.Template{Name: a.Name, Kind: a.Kind, Template: t})
	for _, p := range t.Parts() {
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
