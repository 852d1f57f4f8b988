package fuzz_test

import (
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/cockroachdb/apd/v3"
)

// A path leads from an item to an attribute, or to a value inside one.
type path []step

// A step is the name of an attribute or of a map's member. Without a name it is an index of a list.
type step struct {
	name string
	at   int
}

func attribute(name string) path { return path{{name: name}} }

// then returns a copy of the path with one more step.
func (p path) then(s step) path { return append(slices.Clone(p), s) }

// clashes reports whether DynamoDB refuses an expression with both paths: because one is the beginning of the other,
// or because one takes for a list what the other takes for a map.
func (p path) clashes(q path) bool {
	for i := range min(len(p), len(q)) {
		if p[i] != q[i] {
			return (p[i].name == "") != (q[i].name == "")
		}
	}
	return true
}

// find returns the value at a path.
func (it item) find(p path) (v value, ok bool) {
	v = value{kind: isMap, members: it}
	for _, s := range p {
		switch {
		case s.name != "" && v.kind == isMap:
			if v, ok = v.members[s.name]; !ok {
				return v, false
			}
		case s.name == "" && v.kind == isList && s.at < len(v.list):
			v = v.list[s.at]
		default:
			return value{}, false
		}
	}
	return v, true
}

// project returns the values at the paths, inside as much of the maps and lists around them as necessary.
func (it item) project(paths []path) item {
	v, _ := value{kind: isMap, members: it}.project(paths)
	if v.members == nil {
		return item{}
	}
	return v.members
}

// project is item.project for one value. Ok is false if no path leads to a value.
func (v value) project(paths []path) (out value, ok bool) {
	rest := map[step][]path{}
	for _, p := range paths {
		if len(p) == 0 {
			return v, true
		}
		rest[p[0]] = append(rest[p[0]], p[1:])
	}
	out.kind = v.kind
	switch v.kind {
	case isMap:
		for s, more := range rest {
			if e, has := v.members[s.name]; has && s.name != "" {
				if e, has = e.project(more); has {
					if out.members == nil {
						out.members = item{}
					}
					out.members[s.name] = e
				}
			}
		}
		return out, out.members != nil
	case isList:
		for i, e := range v.list {
			if e, has := e.project(rest[step{at: i}]); has {
				out.list = append(out.list, e)
			}
		}
		return out, out.list != nil
	}
	return value{}, false
}

// An operand of a test is a constant, the value at a path, or the size of that value.
type operand struct {
	path path // nil for a constant
	size bool
	arg  value
}

func (o operand) value(it item) (v value, ok bool) {
	if o.path == nil {
		return o.arg, true
	}
	v, ok = it.find(o.path)
	if !ok || !o.size {
		return v, ok
	}
	n := 0
	switch {
	case v.kind == isMap:
		n = len(v.members)
	case v.kind == isList || v.kind.set():
		n = len(v.list)
	case v.kind == 'S':
		n = len(utf16.Encode([]rune(v.data)))
	case v.kind == 'B':
		n = len(v.data)
	default:
		return value{}, false
	}
	return value{kind: 'N', num: apd.New(int64(n), 0)}, true
}

// A test is a filter or condition: a comparison, or a connective of one or two tests.
type test struct {
	op   string // AND, OR, NOT, or an operator or function
	l, r *test
	args []operand
}

// eval reports whether an item passes the test. The item may be nil.
func (f *test) eval(it item) bool {
	if f == nil {
		return true
	}
	switch f.op {
	case "AND":
		return f.l.eval(it) && f.r.eval(it)
	case "OR":
		return f.l.eval(it) || f.r.eval(it)
	case "NOT":
		return !f.l.eval(it)
	}
	found := make([]value, len(f.args))
	all := true
	for i, o := range f.args {
		var ok bool
		if found[i], ok = o.value(it); !ok {
			all = all && f.op == "IN" && i > 0
		}
	}
	switch f.op {
	case "attribute_exists":
		return all
	case "attribute_not_exists":
		return !all
	case "<>":
		return !all || !equal(found[0], found[1])
	}
	if !all {
		return false
	}
	v, args := found[0], found[1:]
	switch f.op {
	case "=":
		return equal(v, args[0])
	case "IN":
		return slices.ContainsFunc(args, func(e value) bool { return equal(v, e) })
	case "begins_with":
		return hasPrefix(v, args[0])
	case "attribute_type":
		return v.kind.String() == args[0].data
	case "contains":
		return v.contains(args[0])
	}
	if !v.kind.scalar() || slices.ContainsFunc(args, func(e value) bool { return e.kind != v.kind }) {
		return false
	}
	return clause{"v", f.op, args}.match(item{"v": v})
}

// contains reports whether e is a part of the string or binary value v, or an element of the list or set v.
func (v value) contains(e value) bool {
	switch {
	case v.kind == 'S' || v.kind == 'B':
		return e.kind == v.kind && strings.Contains(v.data, e.data)
	case v.kind == isList || v.kind.set():
		return slices.ContainsFunc(v.list, func(x value) bool { return equal(x, e) })
	}
	return false
}
