package modelfile

import (
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/internal/design/model"

	"go.yaml.in/yaml/v4"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/wire"
)

// checkFilter refuses a filter that no item of the model can pass because of a
// mistake: a name similar to that of an attribute, or a value of another type
// than the attribute. Values of different types are never equal and have no
// order.
func (p *parser) checkFilter(q *model.Pattern, n *yaml.Node, in wire.Request) {
	scan, ok := in.(*wire.ScanInput)
	if !ok || scan.FilterExpression == nil {
		return
	}
	env, err := expr.NewEnv(scan.ExpressionAttributeNames, scan.ExpressionAttributeValues)
	if err != nil {
		return
	}
	c, err := env.Condition(expr.FilterExpression, *scan.FilterExpression)
	if err != nil {
		return
	}
	kinds := p.kindsIn(q.Table)
	var known []string
	for name := range kinds {
		known = append(known, name)
	}
	slices.Sort(known)
	for name := range c.TopLevel() {
		if like := similar(name, known); like != "" && kinds[name] == nil {
			p.fail(
				n, "did you mean "+like+"? If not, declare it in fields",
				"the filter uses %s, which no item of table %s has", name, q.Table.Name,
			)
			return
		}
	}
	p.checkComparisons(n, c.Root, kinds)
}

// kindsIn returns the types of the attributes in items of a table.
func (p *parser) kindsIn(t *model.Table) map[string][]attr.Kind {
	all := map[string][]attr.Kind{}
	add := func(name string, k attr.Kind) {
		if !slices.Contains(all[name], k) {
			all[name] = append(all[name], k)
		}
	}
	for _, e := range p.m.Entities {
		if e.Table != t {
			continue
		}
		for _, a := range e.Attributes {
			add(a.Name, a.Kind)
		}
		for _, s := range e.Samples {
			for name, v := range s.Attributes.All() {
				add(string(name), v.Kind())
			}
		}
	}
	for _, r := range p.m.Items {
		if r.Table == t {
			for name, v := range r.Item.All() {
				add(string(name), v.Kind())
			}
		}
	}
	return all
}

// checkComparisons fails if an attribute is compared with a value of a type
// that it never has.
func (p *parser) checkComparisons(n *yaml.Node, node ast.Node, kinds map[string][]attr.Kind) {
	compared := func(list ...ast.Operand) {
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
				switch has := kinds[name][0]; {
				case has == attr.String && value.Value.Kind() == attr.Number:
					hint = fmt.Sprintf(
						"write %q, or declare %s with type N: {template: …, type: N}", value.Value.AppendNumber(nil),
						name,
					)
				case has == attr.Number && value.Value.Kind() == attr.String:
					hint = fmt.Sprintf("write it without quotes, or declare %s with type S", name)
				}
				p.fail(
					n, hint,
					"the filter compares %s, of type %s, with a value of type %s: they are never equal and have no order",
					name, kinds[name][0], value.Value.Kind(),
				)
				return
			}
		}
	}
	switch node := node.(type) {
	case *ast.And:
		p.checkComparisons(n, node.L, kinds)
		p.checkComparisons(n, node.R, kinds)
	case *ast.Or:
		p.checkComparisons(n, node.L, kinds)
		p.checkComparisons(n, node.R, kinds)
	case *ast.Not:
		p.checkComparisons(n, node.X, kinds)
	case *ast.Compare:
		if node.Op != ast.NotEqual {
			compared(node.L, node.R)
		}
	case *ast.Between:
		compared(node.X, node.Lo, node.Hi)
	case *ast.In:
		if len(node.List) == 1 {
			compared(node.X, node.List[0])
		}
	}
}
