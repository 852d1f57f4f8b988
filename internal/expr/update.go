package expr

import (
	"cmp"
	"iter"
	"slices"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/expr/ast"

	"github.com/sortkey/sortkey/attr"
)

// An Update is a change of an item: an update expression, or actions. It is immutable and safe for concurrent use. If
// the item does not exist, an Update creates it, unless all of its actions are REMOVE and DELETE. The nil Update has
// no actions: it creates the item or changes nothing.
type Update struct {
	actions []ast.Action
	touched *Projection // the paths of actions
}

// NewUpdate returns the update of actions, which nobody may change afterwards. Unlike an expression, an action may
// ADD a list, which is appended to the one in the item. The error is an [*Error]. It names the action that no
// expression can contain, or the paths that overlap or conflict.
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

// checkAction refuses an action that no expression can contain.
func checkAction(a ast.Action) error {
	if a.Path == nil || !isPath(a.Path.Path) {
		return refuse(UpdateExpression, "the action of clause %q has no path that an item can have", a.Clause)
	}
	ok := false
	switch a.Clause {
	case ast.SetClause:
		ok = isNewValue(a.Value)
	case ast.RemoveClause:
		ok = a.Value == nil
	case ast.AddClause:
		kind := kindOfValue(a.Value)
		ok = kind == attr.List || kind != 0 && unsupported(a.Clause, kind) == ""
	case ast.DeleteClause:
		ok = kindOfValue(a.Value).IsSet()
	default:
		return refuse(UpdateExpression, "%q is not a clause of an update", a.Clause)
	}
	if !ok {
		return refuse(UpdateExpression, "the action %s %s cannot have this operand", a.Clause, a.Path.Path)
	}

	return nil
}

// kindOfValue returns the kind of a [*ast.ValueOperand], 0 for other operands.
func kindOfValue(o ast.Operand) attr.Kind {
	if v, ok := o.(*ast.ValueOperand); ok && v != nil {
		return v.Value.Kind()
	}
	return 0
}

// isPath reports whether an item can have a value at p: p begins with a name, each step is a name or an index, and
// each name is a valid attribute name.
func isPath(p ast.Path) bool {
	if len(p) == 0 || len(p) > MaxPathSteps || p[0].Name == "" {
		return false
	}
	for _, s := range p {
		isName := s.Name != ""
		switch {
		case s.Index < 0, isName && s.Index != 0:
			return false
		case len(s.Name) > attr.MaxNameBytes || !utf8.ValidString(s.Name):
			return false
		}
	}
	return true
}

// isNewValue reports whether o can be the new value of a SET.
func isNewValue(o ast.Operand) bool {
	if sum, ok := o.(*ast.Arithmetic); ok {
		return sum != nil && (sum.Op == ast.Plus || sum.Op == ast.Minus) && isTerm(sum.L, "") && isTerm(sum.R, "")
	}
	return isTerm(o, "")
}

// isTerm reports whether o can be a term of a new value. If around is not empty, it reports whether o can be an
// argument of that function.
func isTerm(o ast.Operand, around ast.Func) bool {
	switch o := o.(type) {
	case *ast.ValueOperand:
		return o != nil && !o.Value.IsZero()
	case *ast.PathOperand:
		return o != nil && isPath(o.Path)
	case *ast.Call:
		if o == nil || len(o.Args) != 2 || !isTerm(o.Args[0], o.Func) || !isTerm(o.Args[1], o.Func) {
			return false
		}
		_, isPath := o.Args[0].(*ast.PathOperand)
		return o.Func == ast.IfNotExists && isPath || o.Func == ast.ListAppend && around != ast.ListAppend
	}
	return false
}

// Actions returns the actions of an update in the order of the expression; their paths neither overlap nor conflict.
// The caller must not change the slice.
func Actions(u *Update) []ast.Action {
	if u == nil {
		return nil
	}
	return u.actions
}

// creates reports whether the update creates the item if it does not exist. An update with only REMOVE and DELETE
// actions does not create it, and then has no effect. An update without actions creates it. Source: alternator,
// test_item.py and test_returnvalues.py.
func (u *Update) creates() bool {
	makes := func(a ast.Action) bool { return a.Clause == ast.SetClause || a.Clause == ast.AddClause }
	return u == nil || len(u.actions) == 0 || slices.ContainsFunc(u.actions, makes)
}

func (u *Update) topLevel() iter.Seq[string] {
	if u == nil {
		return func(func(string) bool) {}
	}
	return u.touched.topLevel()
}

func (u *Update) paths() iter.Seq[ast.Path] {
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

// Project returns the attributes for UPDATED_OLD or UPDATED_NEW, given the item before or after the update: a new
// item with the attributes and nested parts that the update changes. It closes gaps in lists. It returns nil when the
// item has none of the parts.
//
// Indexes refer to the given item, regardless of what the update did. After SET a[100] past the end, a[100] does not
// exist; after REMOVE a[1], a[1] is the element that moved there. Source: alternator, test_returnvalues.py.
func (u *Update) Project(it attr.Item) attr.Item {
	if len(Actions(u)) == 0 || it.Len() == 0 {
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
func (u *Update) String() string { return ast.FormatUpdate(Actions(u)) }
