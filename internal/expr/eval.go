package expr

import (
	"bytes"

	"github.com/sortkey/sortkey/internal/expr/ast"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item/number"
)

// Match reports whether the condition is true for the item. An item that does
// not exist is nil. Match does not allocate.
//
// Values of the wrong kind are not errors: they make a comparison false.
// Source: DG/Expressions.OperatorsAndFunctions.html; where it is silent,
// alternator's test_condition_expression.py.
func (c *Condition) Match(it attr.Item) bool { return c == nil || c.tree == nil || eval(c.tree, it) }

func eval(n ast.Node, it attr.Item) bool {
	switch n := n.(type) {
	case *ast.And:
		return eval(n.L, it) && eval(n.R, it)
	case *ast.Or:
		return eval(n.L, it) || eval(n.R, it)
	case *ast.Not:
		return !eval(n.X, it)
	case *ast.Compare:
		return evalCompare(n, it)
	case *ast.Between:
		return evalBetween(n, it)
	case *ast.In:
		return evalIn(n, it)
	case *ast.Call:
		return evalCall(n, it)
	}
	return false
}

// digits is a buffer for a size in the stored form of a number.
type digits [24]byte

// resolve returns the value of o, or the zero Value if o has none. The result of size() is stored in buf.
func resolve(o ast.Operand, it attr.Item, buf *digits) attr.Value {
	switch o := o.(type) {
	case *ast.PathOperand:
		return o.Path.Get(it)
	case *ast.ValueOperand:
		return o.Value
	case *ast.SizeOperand:
		n, ok := sizeOf(resolveInner(o.X, it))
		if !ok {
			return attr.Value{}
		}
		return sizeValue(n, buf)
	}
	return attr.Value{}
}

// resolveInner is resolve for the operand of size(). That operand cannot be another size() call.
func resolveInner(o ast.Operand, it attr.Item) attr.Value {
	switch o := o.(type) {
	case *ast.PathOperand:
		return o.Path.Get(it)
	case *ast.ValueOperand:
		return o.Value
	}
	return attr.Value{}
}

// sizeValue returns n as an N in buf.
func sizeValue(n int, buf *digits) attr.Value {
	return attr.MakeValue(attr.Number, number.AppendInt(buf[:0], int64(n)))
}

// sizeOf returns the size of a value: the bytes of a B, the elements of a set, list or map, and the UTF-16 code units
// of an S. N, BOOL and NULL have no size. The documentation speaks of the length of an S. The authors of ExtendDB
// found that for the service, a text of é and a character above U+FFFF has size 3 (issue 60).
func sizeOf(v attr.Value) (int, bool) {
	switch v.Kind() {
	case attr.String:
		return utf16Len(v.Raw()), true
	case attr.Binary:
		return len(v.Raw()), true
	case attr.StringSet, attr.NumberSet, attr.BinarySet, attr.List, attr.Map:
		return v.Len(), true
	case attr.Number, attr.Bool, attr.Null:
	}
	return 0, false
}

// utf16Len returns the number of UTF-16 code units of UTF-8 text: two for each
// character of four bytes, one for each other character.
func utf16Len(s []byte) int {
	n := 0
	for _, c := range s {
		if c&0xC0 != 0x80 {
			n++
		}
		if c >= 0xF0 {
			n++
		}
	}
	return n
}

func evalCompare(n *ast.Compare, it attr.Item) bool {
	var lbuf, rbuf digits
	l, r := resolve(n.L, it, &lbuf), resolve(n.R, it, &rbuf)
	switch n.Op {
	case ast.Equal:
		return !l.IsZero() && attr.Equal(l, r)
	case ast.NotEqual:
		return l.IsZero() || !attr.Equal(l, r)
	}

	c, ok := attr.Compare(l, r)
	if !ok {
		return false
	}
	switch n.Op {
	case ast.Less:
		return c < 0
	case ast.LessOrEqual:
		return c <= 0
	case ast.Greater:
		return c > 0
	case ast.GreaterOrEqual:
		return c >= 0
	}

	return false
}

func evalBetween(n *ast.Between, it attr.Item) bool {
	var xbuf, buf digits
	x := resolve(n.X, it, &xbuf)
	if c, ok := attr.Compare(resolve(n.Lo, it, &buf), x); !ok || c > 0 {
		return false
	}
	c, ok := attr.Compare(x, resolve(n.Hi, it, &buf))
	return ok && c <= 0
}

func evalIn(n *ast.In, it attr.Item) bool {
	var xbuf, buf digits
	x := resolve(n.X, it, &xbuf)
	if x.IsZero() {
		return false
	}
	for _, o := range n.List {
		if attr.Equal(x, resolve(o, it, &buf)) {
			return true
		}
	}
	return false
}

func evalCall(n *ast.Call, it attr.Item) bool {
	var abuf, bbuf digits
	var a, b attr.Value
	if len(n.Args) > 0 {
		a = resolve(n.Args[0], it, &abuf)
	}
	if len(n.Args) > 1 {
		b = resolve(n.Args[1], it, &bbuf)
	}
	switch n.Func {
	case ast.AttributeExists:
		return !a.IsZero()
	case ast.AttributeNotExists:
		return a.IsZero()
	case ast.AttributeType:
		return !a.IsZero() && b.Kind() == attr.String && a.Kind().String() == string(b.Raw())
	case ast.BeginsWith:
		return a.Kind() == b.Kind() && isText(a.Kind()) && bytes.HasPrefix(a.Raw(), b.Raw())
	case ast.Contains:
		return contains(a, b)
	}

	return false
}

// isText reports whether begins_with and contains can search in values of the
// kind as text or bytes.
func isText(k attr.Kind) bool { return k == attr.String || k == attr.Binary }

// contains reports whether b is a substring of the text a, a member of the set
// a, or an element of the list a. Maps contain nothing.
func contains(a, b attr.Value) bool {
	switch {
	case b.IsZero():
		return false
	case isText(a.Kind()):
		return a.Kind() == b.Kind() && bytes.Contains(a.Raw(), b.Raw())
	case a.Kind().IsSet():
		return a.Has(b)
	case a.Kind() == attr.List:
		for i := range a.Len() {
			if attr.Equal(a.Index(i), b) {
				return true
			}
		}
	}
	return false
}
