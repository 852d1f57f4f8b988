// Package ast has the syntax trees of DynamoDB's expressions, for linters, mocks and migrations: nodes with their
// places in the text, functions that walk a tree, and two formatters. Package expr parses expressions into trees, and
// makes conditions and updates of trees that a program has built:
//
//	c, err := env.Condition(expr.ConditionExpression, "a = :v AND NOT contains(b.c[2], :v)")
//	for o := range ast.Operands(expr.Node(c)) {
//		if path, ok := o.(*ast.PathOperand); ok {
//			fmt.Println(path.Path, path.Start) // a 0, then b.c[2] 24
//		}
//	}
//	short := ast.Style{Name: …, Value: …} // names and values instead of placeholders
//	fmt.Println(short.Condition(expr.Node(c))) // a = "x" AND NOT contains(b.c[2], "x")
//	again := expr.NewCondition(&ast.Or{L: expr.Node(c), R: …})
//
// A condition is a [Node], and its operands are [Operand]s. An update is a list of [Action]s. Source of the grammar:
// DG/Expressions.OperatorsAndFunctions.html, DG/Expressions.UpdateExpressions.html.
package ast

import (
	"iter"
	"reflect"

	"github.com/sortkey/sortkey/attr"
)

// A Place is the bytes [Start, End) of an expression's text. It is zero in a tree that was not parsed.
type Place struct{ Start, End int32 }

// Where returns the place itself. Nodes and operands embed their places.
func (p Place) Where() Place { return p }

// Text returns the text at the place in an expression.
func (p Place) Text(src string) string { return src[p.Start:p.End] }

// A Node is a condition, which is true or false for an item. It is one of
// [*And], [*Or], [*Not], [*Compare], [*Between], [*In] and [*Call].
type Node interface {
	Where() Place
	node()
}

// An Operand has a value, or none if the item lacks it. In a condition it is one of [*PathOperand], [*ValueOperand]
// and [*SizeOperand]; in an update, one of [*PathOperand], [*ValueOperand], [*Arithmetic] and [*Call].
type Operand interface {
	Where() Place
	operand()
}

// And is true when both L and R are true.
type And struct {
	Place
	L, R Node
}

// Or is true when L or R is true.
type Or struct {
	Place
	L, R Node
}

// Not is true when X is false.
type Not struct {
	Place
	X Node
}

// An Op is the operator of a [Compare], of an [Arithmetic] or of a condition on
// a key attribute, as written in expressions.
type Op = string

// The comparison operators.
const (
	Equal          Op = "="
	NotEqual       Op = "<>"
	Less           Op = "<"
	LessOrEqual    Op = "<="
	Greater        Op = ">"
	GreaterOrEqual Op = ">="
)

// The operators of key conditions that are words. BETWEEN is the operator of [Between]; begins_with is a function.
const (
	OpBetween    Op = "BETWEEN"
	OpBeginsWith Op = "begins_with"
)

// Mirror returns the operator for the same comparison with its operands
// swapped. It returns "" if op is not a comparison.
func Mirror(op Op) Op {
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

// The arithmetic operators.
const (
	Plus  Op = "+"
	Minus Op = "-"
)

// Compare compares two operands. An operand without a value is not equal to
// anything, even another operand without a value, and has no order.
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

// In is true when X equals one of the operands in List.
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
	// IfNotExists returns the value at its path or, if the path does not exist, the value of its other operand.
	IfNotExists Func = "if_not_exists"
	// ListAppend returns the elements of two lists.
	ListAppend Func = "list_append"
)

// A Call is a call of a function: in a condition, a function that is true or
// false; in an update, [IfNotExists] or [ListAppend].
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
	// Text is the path as written in the expression, with its #names and
	// without spaces. If it is empty, formatters write Path.
	Text string
}

// A ValueOperand is a value from the request.
type ValueOperand struct {
	Place
	// Name is the value's name in ExpressionAttributeValues, such as ":v". If it is empty, formatters
	// write Value.
	Name  string
	Value attr.Value
}

// A SizeOperand is the size of another operand, a number. It has no value when
// X has no value or a value without a size.
type SizeOperand struct {
	Place
	X Operand
}

func (*PathOperand) operand()  {}
func (*ValueOperand) operand() {}
func (*SizeOperand) operand()  {}

// operand makes a Call an Operand. In an update, calls are operands. In a condition, no Call is an operand once the
// parser has checked it; but the parser reads a call before it knows whether the call is misplaced.
func (*Call) operand() {}

// Arithmetic is the sum or difference of two numbers in an update.
type Arithmetic struct {
	Place
	Op   Op
	L, R Operand
}

func (*Arithmetic) operand() {}

// Nodes yields the conditions of a tree in the order in which they are written, each before those inside it. It
// yields nil pointers in a tree, but not nil interfaces.
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
	if isNil(n) {
		return true
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

// isNil reports whether an interface is nil or holds a nil pointer.
func isNil(v any) bool {
	of := reflect.ValueOf(v)
	return !of.IsValid() || of.Kind() == reflect.Pointer && of.IsNil()
}

// Operands yields the operands of a tree in the order in which they are written, each before those inside it. It
// yields nil pointers in a tree, but not nil interfaces.
func Operands(n Node) iter.Seq[Operand] {
	return func(yield func(Operand) bool) { nodeOperands(n, yield) }
}

func nodeOperands(n Node, yield func(Operand) bool) bool {
	if isNil(n) {
		return true
	}
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

// Inside yields an operand and then the operands inside it.
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
	if isNil(o) {
		return true
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
