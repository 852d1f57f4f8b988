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

// checkFilter refuses a filter that no item of the model can pass because of a
// mistake: a name similar to that of an attribute, or a value of another type
// than the attribute. Values of different types are never equal and have no
// order.
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
	for name, k := range in.m.AttributesIn(q.Table) {
		if !slices.Contains(kinds[name], k) {
			kinds[name] = append(kinds[name], k)
		}
	}
	known := slices.Sorted(maps.Keys(kinds))
	for name := range expr.TopLevel(c) {
		if like := similar(name, known); like != "" && kinds[name] == nil {
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
			if node.Op != ast.NotEqual {
				in.checkComparison(kinds, node.L, node.R)
			}
		case *ast.Between:
			in.checkComparison(kinds, node.X, node.Lo, node.Hi)
		case *ast.In:
			if len(node.List) == 1 {
				in.checkComparison(kinds, node.X, node.List[0])
			}
		}
	}
}

// checkComparison fails if an attribute is compared with a value of a type
// that it never has.
func (in value) checkComparison(kinds map[string][]attr.Kind, list ...ast.Operand) {
	for _, o := range list {
		path, ok := o.(*ast.PathOperand)
		if !ok || len(path.Path) != 1 || len(kinds[path.Path[0].Name]) == 0 {
			continue
		}

		name := path.Path[0].Name
		for _, v := range list {
			value, ok := v.(*ast.ValueOperand)
			if !ok || slices.Contains(kinds[name], value.Value.Kind()) {
				continue
			}

			hint := ""
			has, got := kinds[name][0], value.Value.Kind()
			switch {
			case has == attr.String && got == attr.Number:
				hint = fmt.Sprintf(
					"write %q, or declare %s with type N: {template: …, type: N}", value.Value.AppendNumber(nil),
					name,
				)
			case has == attr.Number && got == attr.String:
				hint = fmt.Sprintf("write it without quotes, or declare %s with type S", name)
			}

			in.fail(
				hint, "the filter compares %s, of type %s, with a value of type %s: "+
					"they are never equal and have no order", name, has, got,
			)
			return
		}
	}
}

// similar returns the known name that differs from name by one typing error, or
// "". Names that differ only in digits, such as line1 and line2, are not
// similar.
func similar(name string, known []string) string {
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
