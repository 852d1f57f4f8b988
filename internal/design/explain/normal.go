package explain

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/keycond"
)

// An atom is a condition on one top-level attribute that could be a key
// condition, and the node that says it.
type atom struct {
	name   string
	op     keycond.Op
	values []attr.Value
	node   expr.Node
}

// A group is conditions that all have to hold: atoms, and those that can be no
// key condition in any table.
type group struct {
	atoms []atom
	rest  []expr.Node
}

// maxGroups bounds the requests that one condition is taken apart into.
const maxGroups = 16

// normal takes a condition apart into groups of which one has to hold. Only
// attributes for which isKey holds make atoms. It reports false when there
// would be too many groups.
func normal(n expr.Node, isKey func(string) bool) ([]group, bool) {
	switch n := n.(type) {
	case *expr.Or:
		l, ok := normal(n.L, isKey)
		r, ok2 := normal(n.R, isKey)
		return append(l, r...), ok && ok2 && len(l)+len(r) <= maxGroups
	case *expr.And:
		l, ok := normal(n.L, isKey)
		r, ok2 := normal(n.R, isKey)
		if !ok || !ok2 || len(l)*len(r) > maxGroups {
			return nil, false
		}
		var out []group
		for _, x := range l {
			for _, y := range r {
				out = append(out, group{
					atoms: append(slices.Clip(x.atoms), y.atoms...),
					rest:  append(slices.Clip(x.rest), y.rest...),
				})
			}
		}
		return out, true
	case *expr.Not:
		if inner := negate(n.X, isKey); inner != nil {
			return normal(inner, isKey)
		}
	case *expr.In:
		if name, ok := keyPath(n.X, isKey); ok && len(n.List) <= maxGroups {
			var out []group
			for _, o := range n.List {
				v, ok := o.(*expr.ValueOperand)
				if !ok {
					return []group{{rest: []expr.Node{n}}}, true
				}
				out = append(out, group{atoms: []atom{{name, keycond.Equal, []attr.Value{v.Value}, &expr.Compare{Op: expr.Equal, L: n.X, R: o}}}})
			}
			return out, true
		}
	case *expr.Compare:
		if n.Op == expr.NotEqual {
			if _, ok := keyPath(n.L, isKey); ok {
				return normal(&expr.Or{L: &expr.Compare{Op: expr.Less, L: n.L, R: n.R}, R: &expr.Compare{Op: expr.Greater, L: n.L, R: n.R}}, isKey)
			}
		}
	}
	if a, ok := atomOf(n, isKey); ok {
		return []group{{atoms: []atom{a}}}, true
	}
	return []group{{rest: []expr.Node{n}}}, true
}

var inverse = map[expr.Op]expr.Op{
	expr.Equal: expr.NotEqual, expr.NotEqual: expr.Equal, expr.Less: expr.GreaterOrEqual, expr.GreaterOrEqual: expr.Less,
	expr.Greater: expr.LessOrEqual, expr.LessOrEqual: expr.Greater,
}

// negate returns the opposite of a condition on key attributes, which every
// row has; nil when there is none without NOT.
func negate(n expr.Node, isKey func(string) bool) expr.Node {
	switch n := n.(type) {
	case *expr.Not:
		return n.X
	case *expr.And:
		return &expr.Or{L: &expr.Not{X: n.L}, R: &expr.Not{X: n.R}}
	case *expr.Or:
		return &expr.And{L: &expr.Not{X: n.L}, R: &expr.Not{X: n.R}}
	case *expr.Compare:
		if _, ok := keyPath(n.L, isKey); ok {
			return &expr.Compare{Op: inverse[n.Op], L: n.L, R: n.R}
		}
	case *expr.Between:
		if _, ok := keyPath(n.X, isKey); ok {
			return &expr.Or{L: &expr.Compare{Op: expr.Less, L: n.X, R: n.Lo}, R: &expr.Compare{Op: expr.Greater, L: n.X, R: n.Hi}}
		}
	case *expr.In:
		if _, ok := keyPath(n.X, isKey); !ok {
			return nil
		}
		var all expr.Node
		for _, o := range n.List {
			var c expr.Node = &expr.Compare{Op: expr.NotEqual, L: n.X, R: o}
			if all != nil {
				c = &expr.And{L: all, R: c}
			}
			all = c
		}
		return all
	case *expr.Call:
		a, ok := atomOf(n, isKey)
		if !ok || a.op != keycond.BeginsWith {
			return nil
		}
		below := &expr.Compare{Op: expr.Less, L: n.Args[0], R: n.Args[1]}
		if next, ok := afterPrefix(a.values[0]); ok {
			return &expr.Or{L: below, R: &expr.Compare{Op: expr.GreaterOrEqual, L: n.Args[0], R: &expr.ValueOperand{Value: next}}}
		}
		return below
	}
	return nil
}

// keyPath returns the attribute that an operand is, if it is a whole
// attribute for which isKey holds.
func keyPath(o expr.Operand, isKey func(string) bool) (string, bool) {
	p, ok := o.(*expr.PathOperand)
	if !ok || len(p.Path) != 1 || !isKey(p.Path[0].Name) {
		return "", false
	}
	return p.Path[0].Name, true
}

var atomOps = map[expr.Op]keycond.Op{
	expr.Equal: keycond.Equal, expr.Less: keycond.Less, expr.LessOrEqual: keycond.LessEqual,
	expr.Greater: keycond.Greater, expr.GreaterOrEqual: keycond.GreaterEqual,
}

var mirrored = map[expr.Op]expr.Op{
	expr.Equal: expr.Equal, expr.NotEqual: expr.NotEqual, expr.Less: expr.Greater, expr.LessOrEqual: expr.GreaterOrEqual,
	expr.Greater: expr.Less, expr.GreaterOrEqual: expr.LessOrEqual,
}

// atomOf returns the atom that a node is.
func atomOf(n expr.Node, isKey func(string) bool) (atom, bool) {
	make := func(op keycond.Op, x expr.Operand, values ...expr.Operand) (atom, bool) {
		name, ok := keyPath(x, isKey)
		a := atom{name: name, op: op, node: n}
		for _, o := range values {
			v, isValue := o.(*expr.ValueOperand)
			if !isValue {
				return a, false
			}
			switch v.Value.Kind() {
			case attr.String, attr.Number, attr.Binary:
			default:
				return a, false
			}
			a.values = append(a.values, v.Value)
		}
		return a, ok && op != 0
	}
	switch n := n.(type) {
	case *expr.Compare:
		if _, ok := n.L.(*expr.ValueOperand); ok {
			return make(atomOps[mirrored[n.Op]], n.R, n.L)
		}
		return make(atomOps[n.Op], n.L, n.R)
	case *expr.Between:
		return make(keycond.Between, n.X, n.Lo, n.Hi)
	case *expr.Call:
		if n.Func != expr.BeginsWith || len(n.Args) != 2 {
			return atom{}, false
		}
		if _, ok := n.Args[0].(*expr.ValueOperand); ok { // the wrong way round
			return make(keycond.BeginsWith, n.Args[1], n.Args[0])
		}
		return make(keycond.BeginsWith, n.Args[0], n.Args[1])
	}
	return atom{}, false
}

// conjuncts returns the conditions that n demands all of.
func conjuncts(n expr.Node) []expr.Node {
	if and, ok := n.(*expr.And); ok {
		return append(conjuncts(and.L), conjuncts(and.R)...)
	}
	if n == nil {
		return nil
	}
	return []expr.Node{n}
}

// conjunction returns the condition that all of list hold, nil for none.
func conjunction(list []expr.Node) expr.Node {
	var all expr.Node
	for _, n := range list {
		if all == nil {
			all = n
		} else {
			all = &expr.And{L: all, R: n}
		}
	}
	return all
}
