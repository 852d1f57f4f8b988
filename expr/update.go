package expr

import (
	"iter"

	"github.com/sortkey/sortkey/expr/ast"

	"github.com/sortkey/sortkey/attr"
)

// An Update is a change of an item by UpdateItem: an update expression, or the
// AttributeUpdates parameter. It is immutable and safe for concurrent use. The
// nil Update changes nothing, but creates the item if it does not exist, like
// any update that does more than remove. Actions whose paths neither overlap nor
// conflict make an Update without an expression too.
type Update struct {
	// Param is the request parameter of the update.
	Param Param
	// Actions are the actions in the order of the expression. Their paths
	// neither overlap nor conflict.
	Actions []ast.Action
	touched *Projection // the paths of Actions; see tree
}

// newUpdate returns the update of actions that have been checked.
func newUpdate(p Param, actions []ast.Action) *Update {
	u := &Update{Param: p, Actions: actions}
	u.touched = u.tree()
	return u
}

// tree returns the paths of the actions as a tree. An update that was not made by
// this package makes it anew at each use.
func (u *Update) tree() *Projection {
	if u.touched != nil {
		return u.touched
	}
	paths := make([]ast.Path, len(u.Actions))
	for i, a := range u.Actions {
		paths[i] = a.Path.Path
	}
	return newProjection(paths)
}

// Creates reports whether the update creates an item that does not exist. An
// update with only REMOVE and DELETE actions does not, and then does nothing at
// all. An update without actions does. Source: alternator, test_item.py and
// test_returnvalues.py.
func (u *Update) Creates() bool {
	return u == nil || len(u.Actions) == 0 || u.Count(ast.SetClause)+u.Count(ast.AddClause) > 0
}

// Touched returns the paths of the actions, in their order. The caller must not
// change the slice.
func (u *Update) Touched() []ast.Path {
	if u == nil {
		return nil
	}
	return u.tree().Paths
}

// TopLevel yields the names of the top-level attributes that the update
// changes, each once, in byte order.
func (u *Update) TopLevel() iter.Seq[string] {
	if u == nil {
		return func(func(string) bool) {}
	}
	return u.tree().TopLevel()
}

// Nested reports whether a path in the update, including those it only reads, leads into a
// document.
func (u *Update) Nested() bool {
	if u == nil {
		return false
	}
	for _, a := range u.Actions {
		if len(a.Path.Path) > 1 {
			return true
		}
		for o := range ast.Inside(a.Value) {
			if path, ok := o.(*ast.PathOperand); ok && len(path.Path) > 1 {
				return true
			}
		}
	}
	return false
}

// Paths yields every document path in the update, including those it only
// reads, in the order they are written. A path may occur more than once. The
// caller must not change paths.
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

// Project returns the attributes for UPDATED_OLD or UPDATED_NEW, given the item
// before or after: a new item with the attributes and nested parts that the
// update changes. It closes gaps in lists. It is nil when none of the parts
// exist.
//
// Indexes refer to the given item, regardless of what the update did. After SET
// a[100] past the end, a[100] does not exist; after REMOVE a[1], a[1] is the
// element that moved there. Source: alternator, test_returnvalues.py.
func (u *Update) Project(it attr.Item) attr.Item {
	if u == nil || it.Len() == 0 {
		return nil
	}
	out := attr.Item(u.tree().AppendItem(nil, it))
	if out.Len() == 0 {
		return nil
	}
	return out
}

// String returns the update as an expression: every clause once, with its
// actions in their order. Parsing it with the same names and values returns the
// same update. AttributeUpdates have neither; String writes their values as
// {S:hello}.
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

// appendClause appends the clause of the first action, with all of its actions.
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
