package gen

import (
	"maps"
	"slices"

	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/keys"
)

// A presence says when an item has a key attribute of an index: if all values are given, and lie
// in the conditions of the attribute.
type presence struct {
	given  []value
	oneOf  []choice
	ranges []limit
}

// A choice is the condition that a value is one of some, compared by a type or as text if that has no
// name.
type choice struct {
	value
	by     keys.Type
	values []string
}

// A limit is the condition that a value is <, <=, > or >= a bound.
type limit struct {
	value
	by    keys.Type
	op    ast.Op
	bound string
}

func presenceOf(k key, values []value) *presence {
	p := &presence{}
	need := func(field string) value {
		v := values[slices.IndexFunc(values, func(v value) bool { return v.field == field })]
		if !slices.Contains(p.given, v) {
			p.given = append(p.given, v)
		}
		return v
	}
	for _, part := range k.parts {
		need(part.Name)
	}

	for _, field := range slices.Sorted(maps.Keys(k.t.When)) {
		v := need(field)
		// Numbers and times are equal in several forms.
		by := map[string]keys.Type{goNumber: {Name: "number"}, goTime: {Name: "nanos"}}[v.goType]
		p.oneOf = append(p.oneOf, choice{v, by, k.t.When[field]})
	}

	for _, r := range k.t.Ranges {
		v := need(r.Field)
		by := r.Type
		if v.goType == goTime {
			by = keys.Type{Name: "nanos"}
		}
		if r.Op == ast.OpBetween {
			low, high := limit{v, by, ast.GreaterOrEqual, r.Args[0]}, limit{v, by, ast.LessOrEqual, r.Args[1]}
			p.ranges = append(p.ranges, low, high)
		} else {
			p.ranges = append(p.ranges, limit{v, by, r.Op, r.Args[0]})
		}
	}
	return p
}
