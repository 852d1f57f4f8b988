package expr

import (
	"iter"

	"github.com/sortkey/sortkey/attr"
)

// A Clause is the kind of an [Action].
type Clause string

// The clauses of an update.
const (
	SetClause    Clause = "SET"
	RemoveClause Clause = "REMOVE"
	AddClause    Clause = "ADD"
	DeleteClause Clause = "DELETE"
)

// An Action is one thing an update does to the attribute at Path.
type Action struct {
	Clause Clause
	Path   *PathOperand
	// Value is what the attribute is set to, what is added to it or what is
	// deleted from it. REMOVE has none. For ADD and DELETE it is a
	// [*ValueOperand].
	Value Operand
}

// Kind returns the kind of value the action gives its attribute, as far as the
// request tells: that of a value, the other one of if_not_exists, N for
// arithmetic, L for list_append. It is no kind when that depends on the item,
// and for REMOVE and DELETE. The service judges keys of indexes by it before
// it has read the item (dynalite, test/updateItem.js).
func (a Action) Kind() attr.Kind {
	if a.Clause == RemoveClause || a.Clause == DeleteClause {
		return 0
	}
	return setKind(a.Value)
}

func setKind(o Operand) attr.Kind {
	switch o := o.(type) {
	case *ValueOperand:
		return o.Value.Kind()
	case *Arithmetic:
		return attr.Number
	case *Call:
		if o.Func == ListAppend {
			return attr.List
		}
		return setKind(o.Args[1])
	}
	return 0
}

// An Update is what UpdateItem does to an item: an update expression, or the
// AttributeUpdates parameter. It is immutable and safe for concurrent use. The
// nil Update changes nothing; like any that does not only take away, it
// creates the item when there is none.
type Update struct {
	// Param is where the update came from.
	Param Param
	// Actions are what it does, as the expression lists them. Their paths
	// neither overlap nor conflict.
	Actions []Action
	touched *Projection
	creates bool
}

// newUpdate returns the update of actions that have been checked.
func newUpdate(p Param, actions []Action) *Update {
	u := &Update{Param: p, Actions: actions, creates: len(actions) == 0}
	paths := make([]Path, len(actions))
	for i, a := range actions {
		paths[i] = a.Path.Path
		if a.Clause == SetClause || a.Clause == AddClause {
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
func (u *Update) Touched() []Path {
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
func (u *Update) Paths() iter.Seq[Path] {
	return func(yield func(Path) bool) {
		if u == nil {
			return
		}
		for _, a := range u.Actions {
			if !yield(a.Path.Path) || !operandPaths(a.Value, yield) {
				return
			}
		}
	}
}

// Count returns the number of actions of a clause.
func (u *Update) Count(c Clause) int {
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
