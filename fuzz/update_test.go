package fuzz_test

import (
	"slices"

	"github.com/cockroachdb/apd/v3"
)

// An action is one action of an update expression.
type action struct {
	verb string // SET, REMOVE, ADD, DELETE
	path path
	to   *source // right side of SET; ADD and DELETE have a constant
}

// A source is the right side of a SET: a constant, a path or a function of other sources.
type source struct {
	op   string // "", path, if_not_exists, list_append, + or -
	path path   // of path and if_not_exists
	arg  value
	l, r *source
}

// eval returns the value of a source on the item before the update. Ok is false if DynamoDB refuses the source.
func (t *source) eval(old item) (v value, ok bool) {
	switch t.op {
	case "":
		return t.arg, true
	case "path":
		return old.find(t.path)
	case "if_not_exists":
		if v, ok = old.find(t.path); ok {
			return v, true
		}
		return t.r.eval(old)
	}
	l, ok := t.l.eval(old)
	r, ok2 := t.r.eval(old)
	switch {
	case !ok || !ok2:
		return v, false
	case t.op == "list_append":
		return value{kind: isList, list: slices.Concat(l.list, r.list)}, l.kind == isList && r.kind == isList
	}
	return sum(l, r, t.op == "-")
}

// sum adds or, if minus is true, subtracts two numbers. Ok is false if DynamoDB cannot store the exact result.
func sum(l, r value, minus bool) (v value, ok bool) {
	if l.kind != 'N' || r.kind != 'N' {
		return v, false
	}
	exact := apd.BaseContext.WithPrecision(400)
	var out, second apd.Decimal
	second.Set(r.num)
	if minus {
		second.Neg(&second)
	}
	if _, err := exact.Add(&out, l.num, &second); err != nil || !inRange(&out) {
		return v, false
	}
	return value{kind: 'N', num: &out, data: plain(&out)}, true
}

// union returns a set with the elements of both sets.
func union(a, b value) value {
	out := a
	out.list = slices.Clone(a.list)
	for _, e := range b.list {
		if !a.contains(e) {
			out.list = append(out.list, e)
		}
	}
	return out
}

// A node is a value in the tree of an item that an update is changing.
type node struct {
	value
	names map[string]*node // of a map
	list  []*node
	gone  bool
	// added are elements beyond the end of the list, by the index in the update.
	added map[int]*node
}

func newNode(v value) *node {
	n := &node{value: v}
	switch v.kind {
	case isMap:
		n.names = map[string]*node{}
		for name, e := range v.members {
			n.names[name] = newNode(e)
		}
	case isList:
		for _, e := range v.list {
			n.list = append(n.list, newNode(e))
		}
	}
	return n
}

// settled returns the value with all changes of the update.
func (n *node) settled() value {
	v := n.value
	switch v.kind {
	case isMap:
		v.members = item{}
		for name, e := range n.names {
			if !e.gone {
				v.members[name] = e.settled()
			}
		}
	case isList:
		all := slices.Clone(n.list)
		places := make([]int, 0, len(n.added))
		for at := range n.added {
			places = append(places, at)
		}
		slices.Sort(places)
		for _, at := range places {
			all = append(all, n.added[at])
		}
		v.list = []value{}
		for _, e := range all {
			if !e.gone {
				v.list = append(v.list, e.settled())
			}
		}
	}
	return v
}

// parent returns the map or list in which the last step of a path looks, or nil.
func (n *node) parent(p path) *node {
	for _, s := range p[:len(p)-1] {
		if n = n.child(s); n == nil {
			return nil
		}
	}
	if last := p[len(p)-1]; last.name != "" && n.kind != isMap || last.name == "" && n.kind != isList {
		return nil
	}
	return n
}

func (n *node) child(s step) *node {
	switch {
	case s.name != "" && n.kind == isMap:
		return n.names[s.name]
	case s.name == "" && n.kind == isList && s.at < len(n.list):
		return n.list[s.at]
	}
	return nil
}

func (n *node) put(s step, v value) {
	switch {
	case s.name != "":
		n.names[s.name] = newNode(v)
	case s.at < len(n.list):
		n.list[s.at] = newNode(v)
	default:
		if n.added == nil {
			n.added = map[int]*node{}
		}
		n.added[s.at] = newNode(v)
	}
}

// update returns the item after the actions. Old is nil if the table has no item with the key. Ok is false if
// DynamoDB refuses the actions for this item. If old is nil and all actions remove, no item is created.
func update(key, old item, actions []action) (it item, ok bool) {
	start := old
	if old == nil {
		start = key
	}
	only := func(a action) bool { return a.verb == "REMOVE" || a.verb == "DELETE" }
	if old == nil && actions != nil && !slices.ContainsFunc(actions, func(a action) bool { return !only(a) }) {
		return nil, true
	}
	root := newNode(value{kind: isMap, members: start})
	for _, a := range actions {
		parent, last := root.parent(a.path), a.path[len(a.path)-1]
		if parent == nil {
			return nil, false
		}
		now, was := old.find(a.path)
		switch a.verb {
		case "SET":
			v, fine := a.to.eval(old)
			if !fine {
				return nil, false
			}
			parent.put(last, v)
		case "ADD":
			add := a.to.arg
			switch {
			case !was:
			case add.kind == 'N':
				if add, ok = sum(now, add, false); !ok {
					return nil, false
				}
			case now.kind != add.kind:
				return nil, false
			default:
				add = union(now, add)
			}
			parent.put(last, add)
		case "DELETE":
			if !was {
				continue
			}
			if now.kind != a.to.arg.kind {
				return nil, false
			}
			left := now
			left.list = slices.DeleteFunc(slices.Clone(now.list), a.to.arg.contains)
			if parent.put(last, left); len(left.list) == 0 {
				parent.child(last).gone = true
			}
		case "REMOVE":
			if n := parent.child(last); n != nil {
				n.gone = true
			}
		}
	}
	return root.settled().members.printed(), true
}
