package mask

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

// Covered masks an item like [Rules.Item], but returns an error if the item has a value that no rule covers.
func (r *Rules) Covered(table string, it attr.Item) (attr.Item, error) {
	out, uncovered, err := r.item(table, it)
	if err == nil && len(uncovered) > 0 {
		err = fmt.Errorf("no rule covers %s", slices.Min(slices.Collect(maps.Keys(uncovered))))
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Item returns a masked copy of an item of a table. It returns an error if a value has a type that allows no
// stand-in.
func (r *Rules) Item(table string, it attr.Item) (attr.Item, error) {
	out, uncovered, err := r.item(table, it)
	r.mu.Lock()
	defer r.mu.Unlock()
	for p := range uncovered {
		if !r.uncovered[p] && len(r.uncovered) >= maxUncovered {
			r.more = true
			continue
		}
		r.uncovered[p] = true
	}
	return out, err
}

// item returns a masked copy of an item, and the places in the item that no rule covers.
func (r *Rules) item(table string, it attr.Item) (attr.Item, map[string]bool, error) {
	m := masking{r: r, in: table, of: table, seen: map[string]bool{}}
	if r.model != nil {
		if m.table = r.model.Table(table); m.table != nil {
			m.entity = r.model.Classify(m.table, it)
		}
	}
	if m.entity != nil {
		m.of = m.entity.Name
	}
	out, err := m.members(nil, it, m.attribute)
	if err != nil {
		return nil, m.seen, fmt.Errorf("%s: %w", m.of, err)
	}
	return out, m.seen, nil
}

// A masking masks one item.
type masking struct {
	r      *Rules
	in     string        // name of the table
	table  *model.Table  // nil without a model
	entity *model.Entity // nil if the item belongs to no entity
	of     string
	seen   map[string]bool // places that no rule covers
}

// uncovered records a place that no rule covers. In the path, it writes * for the name of a map member that neither a
// rule nor the model contains, because such a name may be the name of a person.
func (m *masking) uncovered(path []string, part string) {
	shown := slices.Clone(path)
	for i := 1; i < len(path); i++ {
		if !m.known(path[:i+1]) {
			shown[i] = "*"
		}
	}
	m.seen[m.of+" "+strings.Join(shown, ".")+part] = true
}

func (m *masking) entityName() string {
	if m.entity == nil {
		return ""
	}
	return m.entity.Name
}

func (m *masking) rule(path ...string) *rule { return m.r.ruleFor(m.entityName(), path) }

// members masks the names and values of an item's attributes or of a map's members.
func (m *masking) members(
	path []string, it attr.Item, standIn func(path []string, v attr.Value) (attr.Value, bool, error),
) (attr.Item, error) {
	var b attr.Builder
	for name, v := range it.All() {
		at := append(slices.Clip(path), string(name))
		made, ok, err := standIn(at, v)
		if err != nil && len(path) == 0 {
			err = fmt.Errorf("%s: %w", name, err)
		}
		if err != nil {
			return nil, err
		}
		if ok {
			b.Add(m.name(at, v), made)
		}
	}
	return b.Item(), nil
}

// name returns the masked form of the name at the end of a path. It keeps a name that a rule or the model contains,
// because such a name is part of the design, not personal data.
func (m *masking) name(path []string, v attr.Value) string {
	name := path[len(path)-1]
	if m.known(path) {
		return name
	}

	one := m.rule(path...)
	switch {
	case one != nil && one.names != "":
		if one.names == keep {
			return name
		}
		made := m.r.mint.text(one.names, "", name)
		for range maxWalk { // find a stand-in that is not the name of another member
			path = append(slices.Clip(path[:len(path)-1]), made)
			if !m.known(path) {
				break
			}
			made = m.r.mint.text(one.names, "", made)
		}
		return made
	case one != nil && one.how == keep:
		return name
	case one != nil || v.Kind() == attr.Map || v.Kind() == attr.List:
		m.uncovered(append(slices.Clip(path[:len(path)-1]), "*"), names)
	}
	return name // if no rule covers the value, masking the value records its place
}

// known reports whether a rule or the model contains the name at the end of a path.
func (m *masking) known(path []string) bool {
	if len(path) == 1 && m.r.isKey(m.in, path[0]) {
		return true
	}
	if len(path) == 1 && m.table != nil {
		named := func(e *model.Entity) bool { return e.Table == m.table && e.Attribute(path[0]) != nil }
		if m.table.IsKey(path[0]) || slices.ContainsFunc(m.r.model.Entities, named) {
			return true
		}
	}
	return m.r.names(m.entityName(), path)
}

// attribute masks an attribute. It returns false if the rule drops the attribute.
func (m *masking) attribute(path []string, v attr.Value) (attr.Value, bool, error) {
	if m.entity != nil {
		if t := m.entity.Attribute(path[0]); t != nil && v.Kind() == t.Kind {
			if t.Template == nil && attr.Equal(v, t.Const) {
				return v, true, nil // the value is in the design, so it is not personal
			}
			if t.Template == nil {
				return m.value(path, v)
			}
			if made, ok, err := m.template(t, v); ok || err != nil {
				return made, made.Kind() != 0, err
			}
		}
	}
	return m.value(path, v)
}

// template masks the components of an attribute that has a template. It returns false if the template does not match
// the value.
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
		case one != nil && one.how == drop:
			return attr.Value{}, true, nil
		case one != nil && one.how == keep, m.stays(part, values[part.Name], one):
			continue
		case one == nil:
			m.uncovered([]string{part.Name}, "")
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

// stays reports whether masking keeps the value of a component. It keeps a time, and a value that the component's
// type lists. It keeps a value that the model lists for the field, unless a rule names the field.
func (m *masking) stays(part keys.Part, value string, one *rule) bool {
	if model.Moment(part.Type) || len(part.Type.Values) > 0 {
		return true
	}
	f := m.entity.Field(part.Name)
	return f != nil && slices.Contains(f.Values, value) && (one == nil || one.path != part.Name)
}

// value masks the value at a path. It returns false if the rule drops the value.
func (m *masking) value(path []string, v attr.Value) (attr.Value, bool, error) {
	one := m.rule(path...)
	if one != nil && one.how == drop {
		return attr.Value{}, false, nil
	}
	if one != nil && one.how == keep {
		return v, true, nil
	}

	switch v.Kind() {
	case attr.Map:
		made, err := m.members(path, v.Map(), m.value)
		return attr.NewMap(made), err == nil, err
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

	switch {
	case one == nil:
		m.uncovered(path, "")
		return v, true, nil
	case v.Kind() == attr.Bool && one.how != redact:
		m.uncovered(path, booleans)
		return v, true, nil
	}
	made, err := m.scalar(one, v)
	return made, err == nil, err
}

// scalar masks a value that is neither a list nor a map.
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
		switch one.how {
		case redact:
			return attr.NewBinary([]byte(mint.text(redact, "", ""))), nil
		case hash:
			return attr.NewBinary(mint.digest(string(hash), "bytes", string(v.Raw()))[:hashBytes]), nil
		}
		raw, err := hex.DecodeString(mint.shaped(hex.EncodeToString(v.Raw()), hexadecimal))
		return attr.NewBinary(raw), err
	case attr.StringSet, attr.NumberSet, attr.BinarySet:
		return m.set(one, v)
	case attr.Bool:
		return attr.NewBool(false), nil
	}
	return v, nil // null stays
}

// set masks the elements of a set. The result may have fewer elements, because the method fake can give different
// texts the same stand-in.
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
