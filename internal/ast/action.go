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
