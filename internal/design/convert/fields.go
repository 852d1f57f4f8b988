package convert

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

// constants adds the attributes that are constant because they name the kind of
// the item, and those that contain only a component.
func (s *shaper) constants() {
	for name, v := range s.rows[0].it.All() {
		n := string(name)
		if s.e.Attribute(n) != nil || v.Kind() != attr.String && v.Kind() != attr.Number {
			continue
		}
		if n == s.g.constant || slices.Contains(kindAttributes, n) && len(s.rows) > 1 {
			equal := true
			for _, r := range s.rows {
				equal = equal && attr.Equal(r.it.Get(n), v)
			}
			if equal {
				s.e.Attributes = append(s.e.Attributes, &model.Template{Name: n, Kind: v.Kind(), Const: v})
				continue
			}
		}

		f := s.e.Field(n)
		if f == nil || s.columns[n] == nil || !s.equals(n, s.columns[n]) {
			continue
		}

		typ := f.Type
		if typ.Name == "" {
			typ.Name = "string"
		}
		if v.Kind() == attr.Number {
			typ = keys.Type{Name: "number"}
		}

		a := model.Attribute{Name: n, Kind: v.Kind()}
		src := []piece{{typ: typ, parts: []string{}}}
		t, err := keys.Parse(source(src, []string{f.Name}))
		if err != nil {
			continue
		}

		fits := true
		for _, r := range s.rows {
			w := r.it.Get(n)
			fits = fits && (w.Kind() == 0 || w.Kind() == v.Kind() && roundTrips(t, []string{keyText(w)}))
		}
		if fits {
			s.attribute(a, src, []string{f.Name})
		}
	}
}

// fields declares attributes that are strings or numbers in all items that have
// them.
func (s *shaper) fields() {
	kinds := map[string]attr.Kind{}
	var order []string
	for _, r := range s.rows {
		for name, v := range r.it.All() {
			n := string(name)
			k, seen := kinds[n]
			if !seen {
				order = append(order, n)
				kinds[n] = v.Kind()
			} else if k != v.Kind() {
				kinds[n] = attr.Map // of several kinds: do not declare
			}
		}
	}
	for _, n := range order {
		k := kinds[n]
		isNew := s.e.Attribute(n) == nil && s.e.Field(n) == nil
		if (k == attr.String || k == attr.Number) && isNew && n == fieldName(n) && !s.t.IsKey(n) {
			s.own(n, k)
		}
	}
}

// own adds a field with its own attribute.
func (s *shaper) own(name string, kind attr.Kind) {
	f := &model.Field{Name: name, Distribution: model.Distribution{Name: "uniform"}}
	if kind == attr.Number {
		f.Type = keys.Type{Name: "number"}
	}
	t, err := keys.ParseWith("{"+name+"}", map[string]keys.Type{name: f.Type})
	if err != nil {
		return
	}
	s.e.Fields = append(s.e.Fields, f)
	s.e.Attributes = append(s.e.Attributes, &model.Template{Name: name, Kind: kind, Template: t})
}
