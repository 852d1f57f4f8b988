package convert

import (
	"maps"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// sample splits an item into field values and other attributes. It returns nil
// if the entity does not reproduce exactly this item.
func sample(e *model.Entity, it attr.Item) *model.Sample {
	s := &model.Sample{Values: map[string]string{}}
	var extra attr.Builder
	for name, v := range it.All() {
		t := e.Attribute(string(name))
		if t != nil && t.Template == nil && attr.Equal(t.Const, v) ||
			t != nil && v.Kind() == t.Kind && addValues(s.Values, t, v) {
			continue
		}
		if !plainExtra(e, string(name)) {
			return nil
		}
		extra.AddBytes(name, v)
	}

	s.Attributes = extra.Item()
	if made, err := e.ItemWith(s.Values, s.Attributes); err != nil || !made.Equal(it) {
		return nil
	}
	return s
}

// addValues adds the values that a template finds, unless they conflict with
// existing ones.
func addValues(values map[string]string, t *model.Template, v attr.Value) bool {
	if t.Template == nil {
		return false
	}
	found, ok := t.Template.Match(keyText(v))
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

// keyText returns the text of a key value.
func keyText(v attr.Value) string {
	if v.Kind() == attr.Number {
		return string(v.AppendNumber(nil))
	}
	return string(v.Raw())
}

// plainExtra reports whether a sample can have an extra attribute with a name:
// the model file refuses names that look like typing errors.
func plainExtra(e *model.Entity, name string) bool {
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
// or swapped with its neighbour, or only by case.
func slip(a, b string) bool { return strings.EqualFold(a, b) || text.Distance(a, b) <= 1 }
