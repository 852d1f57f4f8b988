package expr

import (
	"cmp"
	"iter"
	"slices"

	"github.com/sortkey/sortkey/expr/ast"

	"github.com/sortkey/sortkey/attr"
)

// An Update is a change of an item: an update expression, or actions. It is immutable and safe for
// concurrent use. The nil Update changes nothing, but creates the item if it does not exist, like any
// update that does more than remove.
type Update struct {
	actions []ast.Action
	touched *Projection // the paths of actions
}

// NewUpdate returns the update of actions, which nobody may change afterwards. Unlike an expression, it
// may ADD a list, which then follows the one in the item. The error says which action
// [ParseUpdate] cannot return, or which paths overlap or conflict; it is an [*Error].
func NewUpdate(actions ...ast.Action) (*Update, error) {
	paths := make([]ast.Path, len(actions))
	for i, a := range actions {
		if err := checkAction(a); err != nil {
			return nil, err
		}
		paths[i] = a.Path.Path
	}
	p := parser{param: UpdateExpression}
	p.checkPaths(paths, make([]int, len(paths)))
	if f := cmp.Or(p.faults[faultOverlap], p.faults[faultConflict]); f.msg != "" {
		return nil, refuse(UpdateExpression, "%s", f.msg)
	}
	return &Update{actions: actions, touched: newProjection(paths)}, nil
}

// checkAction refuses an action that no expression has.
func checkAction(a ast.Action) error {
	if a.Path == nil || len(a.Path.Path) == 0 {
		return refuse(UpdateExpression, "an action of clause %q has no path", a.Clause)
	}
	v, isValue := a.Value.(*ast.ValueOperand)
	ok := false
	switch a.Clause {
	case ast.SetClause:
		ok = isTerm(a.Value)
	case ast.RemoveClause:
		ok = a.Value == nil
	case ast.AddClause:
		ok = isValue && (v.Value.Kind() == attr.List || unsupported(a.Clause, v.Value.Kind()) == "") &&
			!v.Value.IsZero()
	case ast.DeleteClause:
		ok = isValue && v.Value.Kind().IsSet()
	default:
		return refuse(UpdateExpression, "%q is not a clause of an update", a.Clause)
	}
	if !ok {
		return refuse(UpdateExpression, "the action %s %s cannot have this operand", a.Clause, a.Path.Path)
	}

	return nil
}

// isTerm reports whether o can be the new value of a SET, or be inside one.
func isTerm(o ast.Operand) bool {
	switch o := o.(type) {
	case *ast.ValueOperand:
		return !o.Value.IsZero()
	case *ast.PathOperand:
		return len(o.Path) > 0
	case *ast.Arithmetic:
		return (o.Op == ast.Plus || o.Op == ast.Minus) && isTerm(o.L) && isTerm(o.R)
	case *ast.Call:
		known := o.Func == ast.IfNotExists || o.Func == ast.ListAppend
		return known && len(o.Args) == 2 && isTerm(o.Args[0]) && isTerm(o.Args[1])
	}
	return false
}

// Actions returns the actions in the order of the expression; their paths neither overlap nor conflict.
// The caller must not change the slice.
func (u *Update) Actions() []ast.Action {
	if u == nil {
		return nil
	}
	return u.actions
}

// Creates reports whether the update creates an item that does not exist. An
// update with only REMOVE and DELETE actions does not, and then does nothing at
// all. An update without actions does. Source: alternator, test_item.py and
// test_returnvalues.py.
func (u *Update) Creates() bool {
	makes := func(a ast.Action) bool { return a.Clause == ast.SetClause || a.Clause == ast.AddClause }
	return u == nil || len(u.actions) == 0 || slices.ContainsFunc(u.actions, makes)
}

// TopLevel yields the names of the top-level attributes that the update
// changes, each once, in byte order.
func (u *Update) TopLevel() iter.Seq[string] {
	if u == nil {
		return func(func(string) bool) {}
	}
	return u.touched.TopLevel()
}

// Paths yields every document path in the update, including those it only
// reads, in the order they are written. A path may occur more than once. The
// caller must not change paths.
func (u *Update) Paths() iter.Seq[ast.Path] {
	return func(yield func(ast.Path) bool) {
		if u == nil {
			return
		}
		for _, a := range u.actions {
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

// Project returns the attributes for UPDATED_OLD or UPDATED_NEW, given the item
// before or after: a new item with the attributes and nested parts that the
// update changes. It closes gaps in lists. It is nil when none of the parts
// exist.
//
// Indexes refer to the given item, regardless of what the update did. After SET
// a[100] past the end, a[100] does not exist; after REMOVE a[1], a[1] is the
// element that moved there. Source: alternator, test_returnvalues.py.
func (u *Update) Project(it attr.Item) attr.Item {
	if len(u.Actions()) == 0 || it.Len() == 0 {
		return nil
	}
	out := attr.Item(u.touched.Append(nil, it))
	if out.Len() == 0 {
		return nil
	}
	return out
}

// String returns the update as [ast.FormatUpdate] does. Parsing it with the same names and values
// returns the same update.
func (u *Update) String() string { return ast.FormatUpdate(u.Actions()) }
