// Package ast has the trees of expressions: the conditions, operands and actions
// that package expr parses the expressions of requests to, the tokens it makes
// them of, and the way back to text.
package ast

import (
	"iter"

	"github.com/sortkey/sortkey/attr"
)

// A Place is the bytes [Start, End) of an expression's text. The zero Place is
// nowhere: a tree that legacy parameters were turned into has no text.
type Place struct{ Start, End int32 }

// Where returns the place itself: nodes and operands embed theirs.
func (p Place) Where() Place { return p }

// Text returns what stands at the place in an expression.
func (p Place) Text(src string) string { return src[p.Start:p.End] }

// A Node is a condition: something that is true or false of an item. It is one
// of [*And], [*Or], [*Not], [*Compare], [*Between], [*In] and [*Call].
type Node interface {
	Where() Place
	node()
}

// An Operand is something that has a value, or none. In a condition it is one
// of [*PathOperand], [*ValueOperand] and [*SizeOperand], in an update one of
// [*PathOperand], [*ValueOperand], [*Arithmetic] and [*Call].
type Operand interface {
	Where() Place
	operand()
}

// And is true when both L and R are.
type And struct {
	Place
	L, R Node
}

// Or is true when L or R is.
type Or struct {
	Place
	L, R Node
}

// Not is true when X is not.
type Not struct {
	Place
	X Node
}

// An Op is the operator of a [Compare], of an [Arithmetic] or of a condition on
// a key attribute, as expressions spell it.
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

// The operators that are more than one word in an expression: [Between], and
// [BeginsWith], which is a function.
const (
	OpBetween    Op = "BETWEEN"
	OpBeginsWith Op = "begins_with"
)

// Mirror returns the comparison that means the same with its operands in the
// other order, "" for what is not a comparison.
func (op Op) Mirror() Op {
	switch op {
	case Equal, NotEqual:
		return op
	case Less:
		return Greater
	case LessOrEqual:
		return GreaterOrEqual
	case Greater:
		return Less
	case GreaterOrEqual:
		return LessOrEqual
	}
	return ""
}

// The operators of arithmetic.
const (
	Plus  Op = "+"
	Minus Op = "-"
)

// Compare compares two operands. An operand without a value is not equal to
// anything, not even to another one, and has no order.
type Compare struct {
	Place
	Op   Op
	L, R Operand
}

// Between is true when Lo <= X and X <= Hi.
type Between struct {
	Place
	X, Lo, Hi Operand
}

// In is true when X equals one of List.
type In struct {
	Place
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
	Place
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
	Place
	Path Path
	// Text is the path as the expression spells it, with its #names and
	// without spaces. It is empty when there was no expression.
	Text string
}

// A ValueOperand is a value from the request.
type ValueOperand struct {
	Place
	// Name is the value's name in ExpressionAttributeValues, as ":v". It is
	// empty when there was no expression.
	Name  string
	Value attr.Value
}

// A SizeOperand is the size of another operand, a number. It has no value when
// X has none, or one without a size.
type SizeOperand struct {
	Place
	X Operand
}

func (*PathOperand) operand()  {}
func (*ValueOperand) operand() {}
func (*SizeOperand) operand()  {}

// operand makes functions of updates operands. It also lets the parser read a
// function of a condition before it knows whether it stands where one may; a
// condition that has been checked has no Call for an operand.
func (*Call) operand() {}

// Arithmetic is the sum or difference of two numbers in an update.
type Arithmetic struct {
	Place
	Op   Op
	L, R Operand
}

func (*Arithmetic) operand() {}

// Nodes yields the conditions of a tree, each before those inside it, in the
// order they are written.
func Nodes(n Node) iter.Seq[Node] {
	return func(yield func(Node) bool) { nodes(n, yield) }
}

func nodes(n Node, yield func(Node) bool) bool {
	if n == nil {
		return true
	}
	if !yield(n) {
		return false
	}
	switch n := n.(type) {
	case *And:
		return nodes(n.L, yield) && nodes(n.R, yield)
	case *Or:
		return nodes(n.L, yield) && nodes(n.R, yield)
	case *Not:
		return nodes(n.X, yield)
	}
	return true
}

// Operands yields the operands of a tree, each before those inside it, in the
// order they are written.
func Operands(n Node) iter.Seq[Operand] {
	return func(yield func(Operand) bool) { nodeOperands(n, yield) }
}

func nodeOperands(n Node, yield func(Operand) bool) bool {
	switch n := n.(type) {
	case *And:
		return nodeOperands(n.L, yield) && nodeOperands(n.R, yield)
	case *Or:
		return nodeOperands(n.L, yield) && nodeOperands(n.R, yield)
	case *Not:
		return nodeOperands(n.X, yield)
	case *Compare:
		return operands(n.L, yield) && operands(n.R, yield)
	case *Between:
		return operands(n.X, yield) && operands(n.Lo, yield) && operands(n.Hi, yield)
	case *In:
		return operands(n.X, yield) && eachOperand(n.List, yield)
	case *Call:
		return eachOperand(n.Args, yield)
	}
	return true
}

// Inside yields an operand and those inside it.
func Inside(o Operand) iter.Seq[Operand] {
	return func(yield func(Operand) bool) { operands(o, yield) }
}

func operands(o Operand, yield func(Operand) bool) bool {
	if o == nil {
		return true
	}
	if !yield(o) {
		return false
	}
	switch o := o.(type) {
	case *SizeOperand:
		return operands(o.X, yield)
	case *Arithmetic:
		return operands(o.L, yield) && operands(o.R, yield)
	case *Call:
		return eachOperand(o.Args, yield)
	}
	return true
}

func eachOperand(list []Operand, yield func(Operand) bool) bool {
	for _, o := range list {
		if !operands(o, yield) {
			return false
		}
	}
	return true
}
