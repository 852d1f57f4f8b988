package gen

import (
	"maps"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/keys"
)

// An entity describes the type that the generator writes for an entity. The type has the values in the entity's keys
// and builds the keys from them.
type entity struct {
	*model.Entity
	// Type is the name of the generated type. Key and Attributes are the names of the functions that build the
	// primary key and all key attributes. If the language has methods for this, Key and Attributes are "".
	Type, Key, Attributes string
	Values                []*value // required values first
	Keys                  []*key
}

// A value is a field in keys.
type value struct {
	field      string
	kind       kind
	Name, Type string
	// Required is true if the primary key contains the value.
	Required bool
}

// A key is a key attribute of an entity.
type key struct {
	Kind      attr.Kind
	Attribute string // name of its constant
	// Template is the name of the key's template, and Values are its components. Template is "" for a constant.
	Template string
	Values   []*value
	Constant attr.Value
	// Primary is true if the attribute is in the table's key. If it is false, presence is not nil.
	Primary bool
	*presence
}

// A presence says when an item has a key attribute of an index. The item has the attribute if all values in Given are
// set and meet the conditions in OneOf and Ranges.
type presence struct {
	Given  []*value
	OneOf  []choice
	Ranges []limit
}

// A choice is the condition that a value equals one of Choices. Generated code compares the values by the type By, or
// as text if By has no name.
type choice struct {
	*value
	By      keys.Type
	Choices []string
}

// A limit is the condition that a value is below or above a bound. Its operator is <, <=, > or >=.
type limit struct {
	*value
	By    keys.Type
	Op    ast.Op
	Bound string
}

// kindOf returns the kind of value that callers of generated code pass for a component of type t.
func kindOf(t keys.Type) kind {
	const mostInt64 = 18 // an int64 can hold every number of up to 18 digits
	switch t.Name {
	case "int", "signed":
		if t.Width <= mostInt64 {
			return numberKind
		}
	case "year", "month", "date", "time", "millis", "micros", "nanos", "epoch", "epochms":
		return timeKind
	}
	return textKind
}

// valuesOf returns the values in the keys of an entity. Their generated names are not set yet.
func valuesOf(e *model.Entity) (all []*value) {
	required := e.ComponentsOf(e.Table.Keys())
	add := func(field string, t keys.Type) {
		if v := valueOf(all, field); v == nil {
			all = append(all, &value{field: field, kind: kindOf(t), Required: required[field]})
		} else if v.kind != kindOf(t) {
			v.kind = textKind // two templates use different kinds for the field; text can hold both
		}
	}
	for _, a := range e.Table.Definition().Attributes {
		t := e.Attribute(a.Name)
		if t == nil {
			continue
		}
		if t.Template != nil {
			for _, p := range t.Template.Parts() {
				if p.Name != "" {
					add(p.Name, p.Type)
				}
			}
		}
		for _, field := range slices.Sorted(maps.Keys(t.When)) {
			if f := e.Field(field); f != nil {
				add(field, f.Type)
			} else {
				add(field, keys.Type{})
			}
		}
		for _, r := range t.Ranges {
			add(r.Field, r.Type)
		}
	}
	return all
}

func valueOf(all []*value, field string) *value {
	if i := slices.IndexFunc(all, func(v *value) bool { return v.field == field }); i >= 0 {
		return all[i]
	}
	return nil
}

// entity returns the description of an entity, and chooses the generated names in it.
func (t *tree) entity(e *model.Entity) *entity {
	l := t.names.l
	of := &entity{Entity: e, Values: valuesOf(e)}
	of.Type = t.names.add(typeName, e.Name+" key")
	if l.functions {
		of.Key = t.names.add(functionName, e.Name+" key")
		of.Attributes = t.names.add(functionName, e.Name+" attributes")
	}

	slices.SortStableFunc(of.Values, func(a, b *value) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		}
		return 1
	})
	fields := &scope{l: l}
	for _, v := range of.Values {
		v.Name, v.Type = fields.add(fieldName, v.field), l.types[v.kind]
	}

	for _, a := range e.Table.Definition().Attributes {
		at := e.Attribute(a.Name)
		if at == nil {
			continue
		}
		k := &key{Kind: at.Kind, Attribute: t.constant("attribute " + a.Name), Primary: e.Table.Has(a.Name)}
		if at.Template == nil {
			k.Constant = at.Const
		} else {
			k.Template = t.template(at)
		}
		for _, field := range at.Components() {
			k.Values = append(k.Values, valueOf(of.Values, field))
		}
		if !k.Primary {
			k.presence = presenceOf(at, of.Values)
		}
		of.Keys = append(of.Keys, k)
	}
	return of
}

func presenceOf(t *model.Template, values []*value) *presence {
	p := &presence{}
	need := func(field string) *value {
		v := valueOf(values, field)
		if !slices.Contains(p.Given, v) {
			p.Given = append(p.Given, v)
		}
		return v
	}
	for _, field := range t.Components() {
		need(field)
	}

	for _, field := range slices.Sorted(maps.Keys(t.When)) {
		v := need(field)
		// Equal numbers or times can have different texts, so compare them as values of a type.
		by := map[kind]keys.Type{numberKind: {Name: "number"}, timeKind: {Name: "nanos"}}[v.kind]
		p.OneOf = append(p.OneOf, choice{v, by, t.When[field]})
	}

	for _, r := range t.Ranges {
		v := need(r.Field)
		by := r.Type
		if v.kind == timeKind {
			by = keys.Type{Name: "nanos"}
		}
		if r.Op == ast.OpBetween {
			low, high := limit{v, by, ast.GreaterOrEqual, r.Args[0]}, limit{v, by, ast.LessOrEqual, r.Args[1]}
			p.Ranges = append(p.Ranges, low, high)
		} else {
			p.Ranges = append(p.Ranges, limit{v, by, r.Op, r.Args[0]})
		}
	}
	return p
}
