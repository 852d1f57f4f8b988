package tabledef

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// This file limits the memory that Terraform expressions take, because a short expression can make a value that does
// not fit into memory.

// maxMade limits the bytes that one expression makes, and also the bytes that the values of all expressions take.
// Each value counts elementSize bytes in addition to its text.
const (
	maxMade     = 16 << 20
	elementSize = 64
)

var errMade = fmt.Errorf("it makes more than %d MB", maxMade>>20)

// A counted wraps an operand whose value becomes a part of a larger value. It counts the bytes of the operand's
// value.
type counted struct {
	*hclsyntax.ParenthesesExpr
	sources *sources
}

// Value evaluates the operand and counts its bytes. If they exceed the limit, Value panics, because the library's
// loops would continue after an error.
func (c counted) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if c.sources.making < 0 {
		panic(errMade)
	}
	v, diags := c.Expression.Value(ctx)
	if !spend(&c.sources.making, v) {
		panic(errMade)
	}
	return v, diags
}

// UnwrapExpression returns the operand. The library calls it to recognize an operand that is a type or a keyword.
func (c counted) UnwrapExpression() hcl.Expression { return c.Expression }

// spend subtracts the size of a value from *left. It returns false if *left becomes negative.
func spend(left *int, v cty.Value) bool {
	v, _ = v.Unmark()
	if *left -= elementSize; *left < 0 || !v.IsKnown() || v.IsNull() {
		return *left >= 0
	}
	if v.Type() == cty.String {
		*left -= len(v.AsString())
	}
	if v.CanIterateElements() {
		for it := v.ElementIterator(); it.Next(); {
			if _, m := it.Element(); !spend(left, m) {
				return false
			}
		}
	}
	return *left >= 0
}

// prepare wraps operands of an expression in counted, before anything evaluates the expression.
func (s *sources) prepare(n hclsyntax.Node) hcl.Diagnostics {
	count := func(operands ...*hclsyntax.Expression) {
		for _, e := range operands {
			if *e != nil {
				*e = counted{&hclsyntax.ParenthesesExpr{Expression: *e, SrcRange: (*e).Range()}, s}
			}
		}
	}
	list := func(operands []hclsyntax.Expression) {
		for i := range operands {
			count(&operands[i])
		}
	}
	switch n := n.(type) {
	case *hclsyntax.ForExpr:
		count(&n.KeyExpr, &n.ValExpr, &n.CondExpr)
	case *hclsyntax.TemplateExpr:
		if !n.IsStringLiteral() {
			list(n.Parts)
		}
	case *hclsyntax.TupleConsExpr:
		list(n.Exprs)
	case *hclsyntax.ObjectConsExpr:
		for i := range n.Items {
			count(&n.Items[i].ValueExpr)
		}
	case *hclsyntax.ConditionalExpr:
		count(&n.TrueResult, &n.FalseResult)
	case *hclsyntax.FunctionCallExpr:
		list(n.Args)
	}
	return withoutMembers(n)
}

// wide matches a format verb with a width of four digits or more. One such verb makes a large text.
var wide = regexp.MustCompile(`%[^a-zA-Z%]*[0-9]{4}`)

// multiplies wraps a function whose result can be as large as the size of the first argument times the size of the
// others. The wrapper checks this product before it calls f.
func multiplies(f function.Function) function.Function {
	return function.New(&function.Spec{
		Params: f.Params(), VarParam: f.VarParam(), Type: f.ReturnTypeForValues,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			first, others := maxMade, maxMade
			spend(&first, args[0])
			for _, arg := range args[1:] {
				spend(&others, arg)
			}
			if (maxMade-first)*(maxMade-others) > maxMade {
				return cty.NilVal, errMade
			}
			if args[0].Type() == cty.String && wide.MatchString(args[0].AsString()) {
				return cty.NilVal, errors.New("a width is too large")
			}
			return f.Call(args)
		},
	})
}
