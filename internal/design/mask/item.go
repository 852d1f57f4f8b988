package mask

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
)

// Item returns a masked item of a table. It fails if a value has no stand-in of its type, or the item
// would lose its key.
func (r *Rules) Item(table string, it attr.Item) (attr.Item, error) {
	m := masking{r: r, of: table, seen: map[string]bool{}}
	if r.model != nil {
		if t := r.model.Table(table); t != nil {
			m.entity = r.model.Classify(t, it)
		}
	}
	if m.entity != nil {
		m.of = m.entity.Name
	}
	out, err := m.item(it)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.of, err)
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	for path := range m.seen {
		r.uncovered[place{m.of, path}]++
	}
	return out, nil
}

// A masking masks one item.
type masking struct {
	r      *Rules
	entity *model.Entity // nil for an item of none
	of     string
	seen   map[string]bool // paths that no rule covers
}

func (m *masking) rule(path string) *rule {
	entity := ""
	if m.entity != nil {
		entity = m.entity.Name
	}
	return m.r.ruleFor(entity, path)
}

func (m *masking) item(it attr.Item) (attr.Item, error) {
	var b attr.Builder
	for name, v := range it.All() {
		made, ok, err := m.attribute(string(name), v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if ok {
			b.AddBytes(name, made)
		}
	}
	return b.Item(), nil
}

// attribute returns the stand-in of an attribute, and whether the item keeps it.
func (m *masking) attribute(name string, v attr.Value) (attr.Value, bool, error) {
	if m.entity != nil {
		if t := m.entity.Attribute(name); t != nil && v.Kind() == t.Kind {
			if t.Template == nil {
				return v, true, nil // a constant of the design
			}
			if made, ok, err := m.template(t, v); ok || err != nil {
				return made, made.Kind() != 0, err
			}
		}
	}
	return m.value(name, v)
}

// template masks the components of an attribute with a template. It reports false if the template did
// not make the value.
func (m *masking) template(t *model.Template, v attr.Value) (attr.Value, bool, error) {
	values, ok := t.Template.Match(model.TextOf(v))
	if !ok {
		return attr.Value{}, false, nil
	}

	changed := false
	for _, part := range t.Template.Parts() {
		if part.Name == "" {
			continue
		}

		one := m.rule(part.Name)
		switch {
		case one == nil:
			if !model.Moment(part.Type) {
				m.seen[part.Name] = true
			}
			continue
		case one.how == drop:
			return attr.Value{}, true, nil
		case one.how == keep:
			continue
		}

		text, err := m.r.mint.value(one.how, one.of, part.Type, values[part.Name])
		if err != nil {
			return attr.Value{}, true, err
		}
		values[part.Name], changed = text, true
	}
	if !changed {
		return v, true, nil
	}

	text, err := t.Template.Build(values)
	if err != nil {
		return attr.Value{}, true, err
	}
	made, err := model.ValueOf(text, t.Kind)
	return made, true, err
}

// value returns the stand-in of a value at a path, and whether it is kept.
func (m *masking) value(path string, v attr.Value) (attr.Value, bool, error) {
	one := m.rule(path)
	if one != nil && one.how == drop {
		return attr.Value{}, false, nil
	}
	if one != nil && one.how == keep {
		return v, true, nil
	}

	switch v.Kind() {
	case attr.Map:
		var b attr.Builder
		for name, inner := range v.Map().All() {
			made, ok, err := m.value(path+"."+string(name), inner)
			if err != nil {
				return v, false, err
			}
			if ok {
				b.AddBytes(name, made)
			}
		}
		return attr.NewMap(b.Item()), true, nil
	case attr.List:
		var all []attr.Value
		for i := range v.Len() {
			made, ok, err := m.value(path, v.Index(i))
			if err != nil {
				return v, false, err
			}
			if ok {
				all = append(all, made)
			}
		}
		return attr.NewList(all...), true, nil
	}

	if one == nil {
		m.seen[path] = true
		return v, true, nil
	}
	made, err := m.scalar(one, v)
	return made, err == nil, err
}

// scalar returns the stand-in of a value that is no list and no map.
func (m *masking) scalar(one *rule, v attr.Value) (attr.Value, error) {
	mint := m.r.mint
	switch v.Kind() {
	case attr.String:
		return attr.NewString(mint.text(one.how, one.of, string(v.Raw()))), nil
	case attr.Number:
		if one.how == redact {
			return attr.NewNumber("0")
		}
		return attr.NewNumber(mint.number(string(v.AppendNumber(nil))))
	case attr.Binary:
		raw, err := hex.DecodeString(mint.shaped(hex.EncodeToString(v.Raw()), hexadecimal))
		return attr.NewBinary(raw), err
	case attr.StringSet, attr.NumberSet, attr.BinarySet:
		return m.set(one, v)
	case attr.Bool:
		if one.how == redact {
			return attr.NewBool(false), nil
		}
	}
	return v, nil // one of two values, or null
}

// set returns the set of the stand-ins of the elements. Those of a fake can be fewer.
func (m *masking) set(one *rule, v attr.Value) (attr.Value, error) {
	var all []attr.Value
	for i := range v.Len() {
		made, err := m.scalar(one, v.Index(i))
		if err != nil {
			return v, err
		}
		if !slices.ContainsFunc(all, func(have attr.Value) bool { return attr.Equal(have, made) }) {
			all = append(all, made)
		}
	}
	return attr.NewSet(v.Kind(), all...)
}
