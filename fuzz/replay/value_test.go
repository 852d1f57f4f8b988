package main

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
)

// object is a JSON object on its way to a request.
type object = map[string]any

// list is a JSON array.
type list = []any

// Pools are small, so that requests meet items that are there.
var (
	texts   = []string{"a", "b", "ab", "a#1", "a#10", "a#2", "B", "é", "😀", "z"}
	numbers = []string{
		"0", "1", "-1", "2", "10", "1.5", "-10.25", "1e3", "0.001", "99999999999999999999999999999999999999",
	}
	blobs = [][]byte{{0}, {1}, {0xFF}, {0, 0xFF}, {0xFF, 0xFF}, []byte("ab")}
	names = []string{"v", "w", "x1", "doc", "tags1", "n1"}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

// scalar returns a value of a key kind.
func scalar(r *rand.Rand, kind string) object {
	switch kind {
	case "N":
		return object{"N": pick(r, numbers)}
	case "B":
		return object{"B": base64.StdEncoding.EncodeToString(pick(r, blobs))}
	}
	return object{"S": pick(r, texts)}
}

// anyValue returns a value of any kind, nested a little.
func anyValue(r *rand.Rand, depth int) object {
	n := 8
	if depth > 0 {
		n = 10
	}

	switch r.IntN(n) {
	case 0, 1:
		return scalar(r, "S")
	case 2, 3:
		return scalar(r, "N")
	case 4:
		return scalar(r, "B")
	case 5:
		return object{"BOOL": chance(r, 50)}
	case 6:
		return object{"NULL": true}
	case 7:
		return set(r)
	case 8:
		l := list{}
		for range r.IntN(4) {
			l = append(l, anyValue(r, depth-1))
		}
		return object{"L": l}
	}

	m := object{}
	for range r.IntN(4) {
		m[pick(r, names)] = anyValue(r, depth-1)
	}
	return object{"M": m}
}

func set(r *rand.Rand) object {
	seen := map[string]bool{}
	out := list{}
	kind := pick(r, []string{"S", "N", "B"})
	for range 1 + r.IntN(3) {
		v := scalar(r, kind)[kind].(string)
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return object{kind + "S": out}
}

// expression builds an expression with its placeholders.
type expression struct {
	r      *rand.Rand
	names  object
	values object
}

func newExpression(r *rand.Rand) *expression {
	return &expression{r: r, names: object{}, values: object{}}
}

func (e *expression) name(attribute string) string {
	for key, have := range e.names {
		if have == attribute {
			return key
		}
	}
	key := fmt.Sprintf("#n%d", len(e.names))
	e.names[key] = attribute
	return key
}

func (e *expression) value(v object) string {
	key := fmt.Sprintf(":v%d", len(e.values))
	e.values[key] = v
	return key
}

// path returns a document path.
func (e *expression) path() string {
	p := e.name(pick(e.r, names))
	for chance(e.r, 25) {
		if chance(e.r, 50) {
			p += fmt.Sprintf("[%d]", e.r.IntN(3))
		} else {
			p += "." + e.name(pick(e.r, names))
		}
	}
	return p
}

// condition returns a condition on attributes other than keys.
func (e *expression) condition(depth int) string {
	if depth > 0 && chance(e.r, 40) {
		switch e.r.IntN(3) {
		case 0:
			return e.condition(depth-1) + " AND " + e.condition(depth-1)
		case 1:
			return "(" + e.condition(depth-1) + " OR " + e.condition(depth-1) + ")"
		}
		return "NOT " + e.condition(depth-1)
	}

	path := e.path()
	switch e.r.IntN(9) {
	case 0:
		return "attribute_exists(" + path + ")"
	case 1:
		return "attribute_not_exists(" + path + ")"
	case 2:
		kind := pick(e.r, []string{"S", "N", "B", "SS", "NS", "BS", "L", "M", "BOOL", "NULL"})
		return "attribute_type(" + path + ", " + e.value(object{"S": kind}) + ")"
	case 3:
		return "begins_with(" + path + ", " + e.value(scalar(e.r, pick(e.r, []string{"S", "B"}))) + ")"
	case 4:
		return "contains(" + path + ", " + e.value(scalar(e.r, pick(e.r, []string{"S", "N", "B"}))) + ")"
	case 5:
		return "size(" + path + ") " + pick(e.r, []string{"=", "<", ">", "<=", ">="}) + " " + e.value(
			object{"N": fmt.Sprint(e.r.IntN(4))},
		)
	case 6:
		var in []string
		for range 1 + e.r.IntN(3) {
			in = append(in, e.value(scalar(e.r, pick(e.r, []string{"S", "N"}))))
		}
		return path + " IN (" + strings.Join(in, ", ") + ")"
	case 7:
		return path + " BETWEEN " + e.value(object{"N": "-5"}) + " AND " + e.value(object{"N": "5"})
	}

	if chance(e.r, 15) {
		return path + pick(e.r, []string{" = ", " <> "}) + e.path()
	}
	if chance(e.r, 50) {
		return path + pick(e.r, []string{" = ", " <> "}) + e.value(anyValue(e.r, 1))
	}

	return path + pick(e.r, []string{" < ", " <= ", " > ", " >= "}) + e.value(
		scalar(e.r, pick(e.r, []string{"S", "N", "B"})),
	)
}

// update returns an update expression of attributes other than keys.
func (e *expression) update() string {
	var out []string
	free := e.r.Perm(len(names)) // each path once, so that none overlap
	next := func() string {
		if len(free) == 0 {
			return ""
		}
		p := e.name(names[free[0]])
		free = free[1:]
		return p
	}

	suffix := func() string {
		switch {
		case chance(e.r, 15):
			return fmt.Sprintf("[%d]", e.r.IntN(4))
		case chance(e.r, 15):
			return "." + e.name(pick(e.r, names))
		}
		return ""
	}
	if chance(e.r, 70) {
		var sets []string
		for range 1 + e.r.IntN(2) {
			p := next()
			target := p + suffix()
			switch e.r.IntN(5) {
			case 0:
				sets = append(sets, target+" = "+target+pick(e.r, []string{" + ", " - "})+e.value(scalar(e.r, "N")))
			case 1:
				sets = append(sets, target+" = if_not_exists("+e.path()+", "+e.value(anyValue(e.r, 1))+")")
			case 2:
				sets = append(sets, target+" = list_append("+p+", "+e.value(object{"L": list{anyValue(e.r, 1)}})+")")
			case 3:
				sets = append(sets, target+" = "+e.path())
			default:
				sets = append(sets, target+" = "+e.value(anyValue(e.r, 2)))
			}
		}
		out = append(out, "SET "+strings.Join(sets, ", "))
	}

	if chance(e.r, 30) {
		out = append(out, "REMOVE "+next()+suffix())
	}
	if chance(e.r, 25) {
		v := scalar(e.r, "N")
		if chance(e.r, 50) {
			v = set(e.r)
		}
		out = append(out, "ADD "+next()+" "+e.value(v))
	}
	if chance(e.r, 20) || len(out) == 0 {
		out = append(out, "DELETE "+next()+" "+e.value(set(e.r)))
	}
	return strings.Join(out, " ")
}

// into adds the placeholders to a request.
func (e *expression) into(req object) {
	if len(e.names) > 0 {
		req["ExpressionAttributeNames"] = e.names
	}
	if len(e.values) > 0 {
		req["ExpressionAttributeValues"] = e.values
	}
}
