package ast

import "github.com/sortkey/sortkey/attr"

// A Clause is the kind of an [Action].
type Clause string

// The clauses of an update.
const (
	SetClause    Clause = "SET"
	RemoveClause Clause = "REMOVE"
	AddClause    Clause = "ADD"
	DeleteClause Clause = "DELETE"
)

// An Action is a change by an update to the attribute at Path.
type Action struct {
	Clause Clause
	Path   *PathOperand
	// Value is the value to set, add or delete; nil for REMOVE. For ADD and
	// DELETE it is a [*ValueOperand].
	Value Operand
}

// Kind returns the kind of the value that the action stores, if it does not depend on the item: the kind of a value,
// the kind of the second operand of if_not_exists, N for arithmetic, and L for list_append. Otherwise, and for REMOVE
// and DELETE, it returns 0. The service uses the kind to check keys of indexes before it reads the item (dynalite,
// test/updateItem.js).
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
		if len(o.Args) > 1 {
			return setKind(o.Args[1])
		}
	}
	return 0
}
