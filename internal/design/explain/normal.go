package explain

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/keycond"
)

// An atom is a condition on one top-level attribute that has the form of a key condition. node is its syntax tree.
type atom struct {
	keycond.Clause
	node ast.Node
}

// A group is a list of conditions joined by AND. rest has the conditions that do not have the form of a key
// condition.
type group struct {
	atoms []atom
	rest  []ast.Node
}

// add adds a condition to atoms if it has the form of a key condition, and otherwise to rest.
func (g *group) add(n ast.Node, isKey func(string) bool) {
	if a, ok := atomOf(n, isKey); ok {
		g.atoms = append(g.atoms, a)
	} else {
		g.rest = append(g.rest, n)
	}
}

// anyName is an isKey function that accepts every attribute.
func anyName(string) bool { return true }

// maxGroups limits the groups into which normal expands one condition.
const maxGroups = 16

// normal converts a condition to disjunctive normal form: a list of groups joined by OR. Only conditions on
// attributes for which isKey returns true become atoms. normal returns false if there would be more than maxGroups
// groups.
func normal(n ast.Node, isKey func(string) bool) ([]group, bool) {
	switch n := n.(type) {
	case *ast.Or:
		l, ok := normal(n.L, isKey)
		r, ok2 := normal(n.R, isKey)
		return append(l, r...), ok && ok2 && len(l)+len(r) <= maxGroups
	case *ast.And:
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
	case *ast.In:
		if name, ok := keyPath(n.X, isKey); ok && len(n.List) <= maxGroups {
			var out []group
			for _, o := range n.List {
				v, ok := o.(*ast.ValueOperand)
				if !ok {
					return []group{{rest: []ast.Node{n}}}, true
				}
				out = append(out, group{atoms: []atom{equalTo(name, v.Value)}})
			}
			return out, true
		}
	}

	if a, ok := atomOf(n, isKey); ok {
		return []group{{atoms: []atom{a}}}, true
	}
	return []group{{rest: []ast.Node{n}}}, true
}

// equalTo returns an atom that compares the attribute with v.
func equalTo(name string, v attr.Value) atom {
	return atom{
		keycond.Clause{Attribute: name, Op: ast.Equal, Values: []attr.Value{v}},
		&ast.Compare{Op: ast.Equal, L: attribute(name), R: &ast.ValueOperand{Value: v}},
	}
}

// attribute returns the operand for a whole attribute.
func attribute(name string) ast.Operand { return &ast.PathOperand{Path: ast.Path{{Name: name}}} }

// keyPath returns the name of an attribute if the operand is that whole attribute and isKey returns true for it.
func keyPath(o ast.Operand, isKey func(string) bool) (string, bool) {
	p, ok := o.(*ast.PathOperand)
	if !ok || len(p.Path) != 1 || !isKey(p.Path[0].Name) {
		return "", false
	}
	return p.Path[0].Name, true
}

// atomOf returns the condition n as an atom. It returns false if n does not have the form of a key condition.
func atomOf(n ast.Node, isKey func(string) bool) (atom, bool) {
	on := func(op ast.Op, x ast.Operand, values ...ast.Operand) (atom, bool) {
		name, ok := keyPath(x, isKey)
		a := atom{keycond.Clause{Attribute: name, Op: op}, n}
		for _, o := range values {
			v, isValue := o.(*ast.ValueOperand)
			if !isValue {
				return a, false
			}
			switch v.Value.Kind() {
			case attr.String, attr.Number, attr.Binary:
			default:
				return a, false
			}
			a.Values = append(a.Values, v.Value)
		}
		return a, ok && op != ast.NotEqual
	}
	switch n := n.(type) {
	case *ast.Compare:
		if _, ok := n.L.(*ast.ValueOperand); ok {
			return on(ast.Mirror(n.Op), n.R, n.L)
		}
		return on(n.Op, n.L, n.R)
	case *ast.Between:
		return on(ast.OpBetween, n.X, n.Lo, n.Hi)
	case *ast.Call:
		if n.Func != ast.BeginsWith || len(n.Args) != 2 {
			return atom{}, false
		}
		if _, ok := n.Args[0].(*ast.ValueOperand); ok { // arguments swapped
			return on(ast.OpBeginsWith, n.Args[1], n.Args[0])
		}
		return on(ast.OpBeginsWith, n.Args[0], n.Args[1])
	}
	return atom{}, false
}

// conjuncts returns the conditions that AND joins in n, at any depth.
func conjuncts(n ast.Node) []ast.Node {
	if and, ok := n.(*ast.And); ok {
		return append(conjuncts(and.L), conjuncts(and.R)...)
	}
	if n == nil {
		return nil
	}
	return []ast.Node{n}
}

// conjunction joins conditions by AND. It returns nil for an empty list.
func conjunction(list []ast.Node) ast.Node {
	var all ast.Node
	for _, n := range list {
		if all == nil {
			all = n
		} else {
			all = &ast.And{L: all, R: n}
		}
	}
	return all
}
