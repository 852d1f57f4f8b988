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

// This file limits what the expressions of Terraform files make: a short one can make more than any memory holds.

// maxMade limits the bytes that one expression makes, and those that all together keep. An element of a collection
// takes elementSize.
const (
	maxMade     = 16 << 20
	elementSize = 64
)

var errMade = fmt.Errorf("it makes more than %d MB", maxMade>>20)

// A counted expression is an operand that becomes a part of a larger value.
type counted struct {
	*hclsyntax.ParenthesesExpr
	sources *sources
}

// Value counts the value. It panics once they are too large, as loops go on after an error.
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

// UnwrapExpression returns the operand, for what is no value but a type.
func (c counted) UnwrapExpression() hcl.Expression { return c.Expression }

// spend takes the size of a value from a limit, and reports false if that does not suffice.
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

// prepare prepares an expression for its evaluation.
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

// wide matches a verb of format with a width that is a large text by itself.
var wide = regexp.MustCompile(`%[^a-zA-Z%]*[0-9]{4}`)

// multiplies returns a function that can make as much as the product of its first argument and the others.
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
