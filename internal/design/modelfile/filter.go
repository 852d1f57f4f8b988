package modelfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/model"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

// checkFilter reports mistakes because of which a filter rejects every item of the model: a name similar to an
// attribute's name, text without quotes, or a value of another type than the attribute. Values of different types are
// never equal and have no order.
func (in value) checkFilter(q *model.Pattern, request wire.Request) {
	scan, ok := request.(*wire.ScanInput)
	if !ok || scan.FilterExpression == nil {
		return
	}

	env, err := expr.NewEnv(expr.Params{Names: scan.ExpressionAttributeNames, Values: scan.ExpressionAttributeValues})
	if err != nil {
		return
	}
	c, err := env.Condition(expr.FilterExpression, *scan.FilterExpression)
	if err != nil {
		return
	}

	kinds := map[string][]attr.Kind{}
	in.m.AttributesIn(q.Table, func(name string, k attr.Kind) {
		if !slices.Contains(kinds[name], k) {
			kinds[name] = append(kinds[name], k)
		}
	})
	if len(kinds) == 0 {
		return // the model does not say which attributes the items have
	}
	for _, a := range q.Table.Keys() {
		kinds[a.Name] = []attr.Kind{a.Kind}
	}
	known := slices.Sorted(maps.Keys(kinds))
	for name := range expr.TopLevel(c) {
		if like := Similar(name, known); like != "" && kinds[name] == nil {
			in.fail(
				"did you mean "+like+"? If not, declare it in fields",
				"the filter uses %s, which no item of table %s has", name, q.Table.Name,
			)
			return
		}
	}

	for node := range ast.Nodes(expr.Node(c)) {
		switch node := node.(type) {
		case *ast.Compare:
			in.checkComparison(kinds, node.Op == ast.NotEqual, node.L, node.R)
		case *ast.Between:
			in.checkComparison(kinds, false, node.X, node.Lo, node.Hi)
		case *ast.In:
			in.checkComparison(kinds, len(node.List) > 1, append([]ast.Operand{node.X}, node.List...)...)
		case *ast.Call:
			in.checkComparison(kinds, true, node.Args...)
		}
	}
}

// checkComparison reports an error if the first operand is compared with a word that is not an attribute, because it
// is probably text without quotes. Unless anyType is set, it also reports a comparison of an attribute with a value
// of a type that the attribute never has.
func (in value) checkComparison(kinds map[string][]attr.Kind, anyType bool, list ...ast.Operand) {
	for i, o := range list {
		path, ok := o.(*ast.PathOperand)
		if !ok || len(path.Path) != 1 {
			continue
		}

		name := path.Path[0].Name
		has := kinds[name]
		if i > 0 && has == nil {
			in.fail(
				fmt.Sprintf("if it is a text, quote it, as in '%s'; if it is an attribute, add it to the entity", name),
				"the filter compares with the unknown attribute %s", name,
			)
			return
		}
		for _, v := range list {
			value, ok := v.(*ast.ValueOperand)
			if !ok || anyType || has == nil || slices.Contains(has, value.Value.Kind()) {
				continue
			}

			hint := ""
			switch got := value.Value.Kind(); {
			case has[0] == attr.String && got == attr.Number:
				hint = fmt.Sprintf(
					"write %q, or declare %s with type N: {template: …, type: N}", value.Value.AppendNumber(nil),
					name,
				)
			case has[0] == attr.Number && got == attr.String:
				hint = fmt.Sprintf("write it without quotes, or declare %s with type S", name)
			}
			in.fail(
				hint, "the filter compares %s, of type %s, with a value of type %s: "+
					"they are never equal and have no order", name, has[0], value.Value.Kind(),
			)
			return
		}
	}
}

// Similar returns a known name that differs from name by one typing error or in case, or "". Names of up to three
// bytes are never similar, nor are names that differ only in digits, such as line1 and line2.
func Similar(name string, known []string) string {
	bare := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, s)
	}
	for _, k := range known {
		if len(name) > 3 && bare(name) != bare(k) && (text.Distance(name, k) == 1 || strings.EqualFold(name, k)) {
			return k
		}
	}
	return ""
}
