package expr

import (
	"iter"

	"github.com/sortkey/sortkey/internal/ast"

	"github.com/sortkey/sortkey/attr"
)

// An Update is what UpdateItem does to an item: an update expression, or the
// AttributeUpdates parameter. It is immutable and safe for concurrent use. The
// nil Update changes nothing; like any that does not only take away, it
// creates the item when there is none.
type Update struct {
	// Param is where the update came from.
	Param Param
	// Actions are what it does, as the expression lists them. Their paths
	// neither overlap nor conflict.
	Actions []ast.Action
	touched *Projection
	creates bool
}

// newUpdate returns the update of actions that have been checked.
func newUpdate(p Param, actions []ast.Action) *Update {
	u := &Update{Param: p, Actions: actions, creates: len(actions) == 0}
	paths := make([]ast.Path, len(actions))
	for i, a := range actions {
		paths[i] = a.Path.Path
		if a.Clause == ast.SetClause || a.Clause == ast.AddClause {
			u.creates = true
		}
	}
	u.touched = newProjection(paths)
	return u
}

// Creates reports whether the update makes an item where there is none. One
// that only has REMOVE and DELETE does not, and then does nothing at all. One
// without actions does. Source: alternator, test_item.py and
// test_returnvalues.py.
func (u *Update) Creates() bool { return u == nil || u.creates }

// Touched returns the paths of the actions, in their order. It must not be
// changed.
func (u *Update) Touched() []ast.Path {
	if u == nil {
		return nil
	}
	return u.touched.Paths
}

// TopLevel yields the names of the top-level attributes the update touches, in
// byte order and each once.
func (u *Update) TopLevel() iter.Seq[string] {
	if u == nil {
		return func(func(string) bool) {}
	}
	return u.touched.TopLevel()
}

// Paths yields every document path the update mentions, those it only reads
// too, in the order they are written. A path may come more than once. Paths
// must not be changed.
func (u *Update) Paths() iter.Seq[ast.Path] {
	return func(yield func(ast.Path) bool) {
		if u == nil {
			return
		}
		for _, a := range u.Actions {
			if !yield(a.Path.Path) {
				return
			}
			for o := range ast.Inside(a.Value) {
				if path, ok := o.(*ast.PathOperand); ok && !yield(path.Path) {
					return
				}
			}
		}
	}
}

// Count returns the number of actions of a clause.
func (u *Update) Count(c ast.Clause) int {
	n := 0
	if u != nil {
		for _, a := range u.Actions {
			if a.Clause == c {
				n++
			}
		}
	}
	return n
}

// Project returns what UPDATED_OLD or UPDATED_NEW show of the item before or
// after: a new item with the attributes and nested parts the update touches.
// List elements close up. It is nil when there is nothing to show.
//
// Indexes are places in the given item, whatever the update did: after SET
// a[100] past the end there is nothing at a[100], and after REMOVE a[1] the
// element that moved in is. Source: alternator, test_returnvalues.py.
func (u *Update) Project(it attr.Item) attr.Item {
	if u == nil || it.Len() == 0 {
		return nil
	}
	out := attr.Item(u.touched.AppendItem(nil, it))
	if out.Len() == 0 {
		return nil
	}
	return out
}

// String returns the update as an expression: every clause once, with its
// actions in their order. Parsing it with the same names and values gives the
// same update, but for those from AttributeUpdates, which have neither: their
// values are written themselves, as {S:hello}.
func (u *Update) String() string {
	if u == nil {
		return ""
	}
	var dst []byte
	var done [4]ast.Clause
	for i, a := range u.Actions {
		n := 0
		for n < len(done) && done[n] != "" && done[n] != a.Clause {
			n++
		}
		if n < len(done) && done[n] == "" {
			done[n] = a.Clause
			dst = appendClause(dst, u.Actions[i:])
		}
	}
	return string(dst)
}

// appendClause appends the clause that actions begin with, and all there is of
// it.
func appendClause(dst []byte, actions []ast.Action) []byte {
	if len(dst) > 0 {
		dst = append(dst, ' ')
	}
	clause := actions[0].Clause
	dst = append(dst, clause...)
	for i, a := range actions {
		if a.Clause != clause {
			continue
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, ' ')
		dst = ast.AppendOperand(dst, a.Path)
		if clause == ast.SetClause {
			dst = append(dst, " ="...)
		}
		if a.Value != nil {
			dst = append(dst, ' ')
			dst = ast.AppendOperand(dst, a.Value)
		}
	}
	return dst
}
