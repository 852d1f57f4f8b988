package model

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/keys"
)

// Item builds an item from the text forms of field values. It omits attributes
// whose fields have no value, and fails if such an attribute is a key of the
// table.
func (e *Entity) Item(values map[string]string) (attr.Item, error) { return e.ItemWith(values, nil) }

// ItemWith is like Item, but adds the attributes in extra and takes them in place of the entity's attributes of the
// same names.
func (e *Entity) ItemWith(values map[string]string, extra attr.Item) (attr.Item, error) {
	var b ItemBuilder
	if err := e.Add(&b, e.Attributes, values, extra, false); err != nil {
		return nil, err
	}
	for name, v := range extra.All() {
		b.AddBytes(name, v)
	}
	return b.Item(), nil
}

// An ItemBuilder builds items one after the other. Its zero value is ready to use.
type ItemBuilder struct {
	attr.Builder
	raw []byte // the bytes of the values
}

// Reset empties the builder and keeps its memory.
func (b *ItemBuilder) Reset() {
	b.Builder.Reset()
	b.raw = b.raw[:0]
}

// Add adds the given attributes to the builder, except those that extra has. If complete is set, the caller
// guarantees that values has a value for every field, and Add does not check it.
func (e *Entity) Add(
	b *ItemBuilder, attributes []*Template, values map[string]string, extra attr.Item, complete bool,
) error {
	for _, t := range attributes {
		if extra != nil && extra.Get(t.Name).Kind() != 0 {
			continue
		}
		v, ok, err := t.value(b, values, complete)
		if err != nil {
			return fmt.Errorf("attribute %s: %s", t.Name, KeyError(err))
		}
		if ok {
			b.Add(t.Name, v)
			continue
		}
		if e.Table.Has(t.Name) {
			return fmt.Errorf("key attribute %s needs a value for %s", t.Name, t.missing(values))
		}
	}
	return nil
}

// Asks reports whether a condition of the attribute uses the field. The field's value then decides whether an item
// has the attribute.
func (t *Template) Asks(field string) bool {
	return len(t.When[field]) > 0 || slices.ContainsFunc(t.Ranges, func(r FieldRange) bool { return r.Field == field })
}

// Holds reports whether an item with these field values has the attribute.
func (t *Template) Holds(values map[string]string) bool {
	for field, want := range t.When {
		if v, ok := values[field]; !ok || !slices.Contains(want, v) {
			return false
		}
	}
	return !slices.ContainsFunc(t.Ranges, func(r FieldRange) bool {
		v, ok := values[r.Field]
		return !ok || !r.Holds(v)
	})
}

// value returns the attribute's value, and whether the item has the attribute.
func (t *Template) value(b *ItemBuilder, values map[string]string, complete bool) (attr.Value, bool, error) {
	if !t.Holds(values) {
		return attr.Value{}, false, nil
	}
	if t.Template == nil {
		return t.Const, true, nil
	}
	if !complete && t.missing(values) != "" {
		return attr.Value{}, false, nil
	}

	at := len(b.raw)
	text, err := t.Template.Append(b.raw, values)
	if err != nil {
		return attr.Value{}, false, err
	}
	if t.Kind == attr.Number {
		if text, err = attr.AppendNumber(b.raw, string(text[at:])); err != nil {
			return attr.Value{}, false, err
		}
	}

	b.raw = text
	// The bytes need no check: a template produces only valid UTF-8, which suits a string and a binary value.
	return attr.MakeValue(t.Kind, b.raw[at:len(b.raw):len(b.raw)]), true, nil
}

// Components returns the names of the fields in the template. A constant has none.
func (t *Template) Components() []string {
	if t.Template == nil {
		return nil
	}
	return t.Template.Components()
}

// Conditional reports whether only some items have the attribute.
func (t *Template) Conditional() bool { return len(t.When)+len(t.Ranges) > 0 }

// Condition describes in words which items have the attribute. It returns "" if all items have it.
func (t *Template) Condition() string {
	var all []string
	for _, field := range slices.Sorted(maps.Keys(t.When)) {
		all = append(all, field+" is "+strings.Join(t.When[field], " or "))
	}
	for _, r := range t.Ranges {
		all = append(all, r.Field+" "+string(r.Op)+" "+strings.Join(r.Args, " AND "))
	}
	return strings.Join(all, " and ")
}

// Holds reports whether a value is in the range. A value that is not of the range's type is not in it.
func (r FieldRange) Holds(value string) bool {
	low, err := r.Type.Compare(value, r.Args[0])
	if err != nil {
		return false
	}
	switch r.Op {
	case ast.Less:
		return low < 0
	case ast.LessOrEqual:
		return low <= 0
	case ast.Greater:
		return low > 0
	case ast.GreaterOrEqual:
		return low >= 0
	}
	high, err := r.Type.Compare(value, r.Args[1])
	return err == nil && low >= 0 && high <= 0
}

// missing returns the first field in the template that has no value, or "".
func (t *Template) missing(values map[string]string) string {
	if t.Template == nil {
		return ""
	}
	for _, name := range t.Template.Components() {
		if _, ok := values[name]; !ok {
			return name
		}
	}
	return ""
}

// KeyError returns the text of an error of package keys, without the template.
func KeyError(err error) string {
	e, ok := errors.AsType[*keys.Error](err)
	if !ok {
		return err.Error()
	}
	text := e.Msg
	if e.Component != "" {
		text = "component " + e.Component + ": " + text
	}
	if e.Advice != "" {
		text += "; " + e.Advice
	}
	return text
}
