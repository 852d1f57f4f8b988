package convert

import (
	"maps"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design"
)

// sample takes an item apart into the values of fields and what is left of it.
// It returns nil when the entity does not make exactly this item.
func sample(e *design.Entity, it attr.Item) *design.Sample {
	s := &design.Sample{Values: map[string]string{}}
	var extra attr.Builder
	for name, v := range it.All() {
		t := e.Attribute(string(name))
		if t != nil && t.Template == nil && attr.Equal(t.Const, v) || t != nil && v.Kind() == t.Kind && take(s.Values, t, v) {
			continue
		}
		if !plainExtra(e, string(name)) {
			return nil
		}
		extra.AddBytes(name, v)
	}
	s.Attributes = extra.Item()
	made, err := e.Item(s.Values)
	if err != nil {
		return nil
	}
	var b attr.Builder
	for name, v := range made.All() {
		b.AddBytes(name, v)
	}
	for name, v := range s.Attributes.All() {
		b.AddBytes(name, v)
	}
	if !b.Item().Equal(it) {
		return nil
	}
	return s
}

// take adds the values that a template finds, unless they are others than those
// there are.
func take(values map[string]string, t *design.Template, v attr.Value) bool {
	if t.Template == nil {
		return false
	}
	found, ok := t.Template.Match(text(v))
	if !ok {
		return false
	}
	for name, f := range found {
		if have, ok := values[name]; ok && have != f {
			return false
		}
	}
	maps.Copy(values, found)
	return true
}

// text is what a template makes of the value of a key.
func text(v attr.Value) string {
	if v.Kind() == attr.Number {
		return string(v.AppendNumber(nil))
	}
	return string(v.Raw())
}

// plainExtra reports whether a sample may have an attribute of that name beside
// the fields: one that looks like a slip is refused by the model file.
func plainExtra(e *design.Entity, name string) bool {
	if e.Field(name) != nil {
		return false
	}
	if e.Attribute(name) != nil {
		return true
	}
	for _, f := range e.Fields {
		if slip(name, f.Name) {
			return false
		}
	}
	for _, t := range e.Attributes {
		if slip(name, t.Name) {
			return false
		}
	}
	return true
}

// slip reports whether two names differ by one byte inserted, deleted, replaced
// or swapped with its neighbour, or by case.
func slip(a, b string) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}
