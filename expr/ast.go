package expr

import (
	"iter"

	"github.com/sortkey/sortkey/attr"
)

// A Node is a condition: something that is true or false of an item. It is one
// of [*And], [*Or], [*Not], [*Compare], [*Between], [*In] and [*Call].
type Node interface{ node() }

// An Operand is something that has a value, or none. In a condition it is one
// of [*PathOperand], [*ValueOperand] and [*SizeOperand], in an update one of
// [*PathOperand], [*ValueOperand], [*Arithmetic] and [*Call].
type Operand interface{ operand() }

// And is true when both L and R are.
type And struct{ L, R Node }

// Or is true when L or R is.
type Or struct{ L, R Node }

// Not is true when X is not.
type Not struct{ X Node }

// An Op is the operator of a [Compare] or an [Arithmetic].
type Op string

// The comparison operators.
const (
	Equal          Op = "="
	NotEqual       Op = "<>"
	Less           Op = "<"
	LessOrEqual    Op = "<="
	Greater        Op = ">"
	GreaterOrEqual Op = ">="
)

// The operators of arithmetic.
const (
	Plus  Op = "+"
	Minus Op = "-"
)

// Compare compares two operands. An operand without a value is not equal to
// anything, not even to another one, and has no order.
type Compare struct {
	Op   Op
	L, R Operand
}

// Between is true when Lo <= X and X <= Hi.
type Between struct{ X, Lo, Hi Operand }

// In is true when X equals one of List.
type In struct {
	X    Operand
	List []Operand
}

// A Func is the name of a function.
type Func string

// The functions that are conditions, and size, which is an operand: see
// [SizeOperand].
const (
	AttributeExists    Func = "attribute_exists"
	AttributeNotExists Func = "attribute_not_exists"
	AttributeType      Func = "attribute_type"
	BeginsWith         Func = "begins_with"
	Contains           Func = "contains"
	Size               Func = "size"
)

// The functions of updates, which are operands.
const (
	// IfNotExists has the value at its path, or that of its other operand when
	// there is none.
	IfNotExists Func = "if_not_exists"
	// ListAppend has the elements of two lists.
	ListAppend Func = "list_append"
)

// A Call is a function: in a condition one that is true or false, in an update
// [IfNotExists] or [ListAppend].
type Call struct {
	Func Func
	Args []Operand
}

func (*And) node()     {}
func (*Or) node()      {}
func (*Not) node()     {}
func (*Compare) node() {}
func (*Between) node() {}
func (*In) node()      {}
func (*Call) node()    {}

// A PathOperand is the attribute at a document path.
type PathOperand struct {
	Path Path
	// Text is the path as the expression spells it, with its #names and
	// without spaces. It is empty when there was no expression.
	Text string
}

// A ValueOperand is a value from the request.
type ValueOperand struct {
	// Name is the value's name in ExpressionAttributeValues, as ":v". It is
	// empty when there was no expression.
	Name  string
	Value attr.Value
}

// A SizeOperand is the size of another operand, a number. It has no value when
// X has none, or one without a size.
type SizeOperand struct{ X Operand }

func (*PathOperand) operand()  {}
func (*ValueOperand) operand() {}
func (*SizeOperand) operand()  {}

// operand makes functions of updates operands. It also lets the parser read a
// function of a condition before it knows whether it stands where one may; a
// condition that has been checked has no Call for an operand.
func (*Call) operand() {}

// Arithmetic is the sum or difference of two numbers in an update.
type Arithmetic struct {
	Op   Op
	L, R Operand
}

func (*Arithmetic) operand() {}

// A Condition is a condition on an item: a condition, filter or key condition
// expression, or legacy parameters that mean the same. It is immutable and
// safe for concurrent use. The nil Condition is true of every item.
type Condition struct {
	Root Node
	// Param is where the condition came from.
	Param Param
}

// Paths yields the document paths the condition mentions, in the order they
// are written. A path may come more than once. Paths must not be changed.
func (c *Condition) Paths() iter.Seq[Path] {
	return func(yield func(Path) bool) {
		if c != nil {
			nodePaths(c.Root, yield)
		}
	}
}

// TopLevel yields the names of the top-level attributes the condition
// mentions, in the order they are written. A name may come more than once.
func (c *Condition) TopLevel() iter.Seq[string] {
	return func(yield func(string) bool) {
		for p := range c.Paths() {
			if !yield(p[0].Name) {
				return
			}
		}
	}
}

// nodePaths yields the paths below n and reports whether to go on.
func nodePaths(n Node, yield func(Path) bool) bool {
	switch n := n.(type) {
	case *And:
		return nodePaths(n.L, yield) && nodePaths(n.R, yield)
	case *Or:
		return nodePaths(n.L, yield) && nodePaths(n.R, yield)
	case *Not:
		return nodePaths(n.X, yield)
	case *Compare:
		return operandPaths(n.L, yield) && operandPaths(n.R, yield)
	case *Between:
		return operandPaths(n.X, yield) && operandPaths(n.Lo, yield) && operandPaths(n.Hi, yield)
	case *In:
		return operandPaths(n.X, yield) && operandsPaths(n.List, yield)
	case *Call:
		return operandsPaths(n.Args, yield)
	}
	return true
}

func operandsPaths(list []Operand, yield func(Path) bool) bool {
	for _, o := range list {
		if !operandPaths(o, yield) {
			return false
		}
	}
	return true
}

func operandPaths(o Operand, yield func(Path) bool) bool {
	switch o := o.(type) {
	case *PathOperand:
		return yield(o.Path)
	case *SizeOperand:
		return operandPaths(o.X, yield)
	case *Arithmetic:
		return operandPaths(o.L, yield) && operandPaths(o.R, yield)
	case *Call:
		return operandsPaths(o.Args, yield)
	}
	return true
}
