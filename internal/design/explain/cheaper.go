package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// Cheaper says how a Query or a Scan could read less, from the keys of its table and the form of its conditions, with
// ? in place of values: it reads nothing. It prefers what exists to a new index. It returns "" if the request has no
// filter and is not a Scan, or is not one that the service accepts.
func Cheaper(t *keyschema.Table, in wire.Request) string {
	e, ok := cheapened(t, in)
	if !ok {
		return ""
	}
	if e.q.filter == nil {
		if e.asked.op != wire.OpScan {
			return ""
		}
		return "a Scan reads every row: if some of them will do, put what they have in common into a key, and " +
			"query that"
	}
	if p, ok := e.cheaperPlan(); ok {
		return e.cheaperWords(p, asShape)
	}
	return e.noKey()
}

// cheapened returns an explainer of a Query or a Scan that reads nothing, and whether the request is correct.
func cheapened(t *keyschema.Table, in wire.Request) (*explainer, bool) {
	r, ok := requestOf(in)
	if !ok || r.op == wire.OpGetItem || t.Schema(value(r.IndexName)) == nil {
		return nil, false
	}
	e := &explainer{asked: r, info: t, report: &Report{Operation: r.op.String(), Index: value(r.IndexName)}}
	var err error
	e.q, err = r.parse()
	return e, err == nil
}

// asShape writes conditions with ? in place of values.
var asShape = ast.Style{Name: text.Name, Value: func(attr.Value) string { return "?" }}

// cheaperPlan returns a plan that reads less, of the table, of an index that exists or else of a new one.
func (e *explainer) cheaperPlan() (*plan, bool) {
	if all := e.cheaperPlans(); len(all) > 0 {
		return all[0], true
	}
	return e.indexPlan()
}

// cheaperWords says what a plan that reads less is, with conditions in a style.
func (e *explainer) cheaperWords(p *plan, style ast.Style) string {
	how := p.words(style)
	if p.isNew() {
		how = "add a global secondary index with " + keyWords(p.schema) + ", and " + how
	}
	if p.index != nil && !p.index.Local && value(e.asked.ConsistentRead) {
		how += "; its reads are eventually consistent"
	}
	return how
}

// improve says how a request with a filter that drops rows could read less.
func (e *explainer) improve() {
	r := e.report
	if r.Operation == opGetItem || e.q.filter == nil || r.Wasted == 0 || r.Examined == 1 {
		return
	}
	if p, ok := e.cheaperPlan(); ok {
		e.hint("to read less, %s", e.cheaperWords(p, spelled))
	}
}

// nodeOf returns a clause as a condition.
func nodeOf(c keycond.Clause) ast.Node {
	x, values := attribute(c.Attribute), make([]ast.Operand, len(c.Values))
	for i, v := range c.Values {
		values[i] = &ast.ValueOperand{Value: v}
	}
	switch c.Op {
	case ast.OpBetween:
		return &ast.Between{X: x, Lo: values[0], Hi: values[1]}
	case ast.OpBeginsWith:
		return &ast.Call{Func: ast.BeginsWith, Args: []ast.Operand{x, values[0]}}
	}
	return &ast.Compare{Op: c.Op, L: x, R: values[0]}
}

// keyWords says which key an index has.
func keyWords(s *keycond.Schema) string {
	list := func(role string, all []keycond.Attribute) string {
		names := make([]string, len(all))
		for i, a := range all {
			names[i] = text.Name(a.Name)
			if a.Kind != attr.String {
				names[i] += " (" + a.Kind.String() + ")"
			}
		}
		return role + " key " + strings.Join(names, ", ")
	}
	if len(s.Sort()) == 0 {
		return "the " + list("partition", s.Partition())
	}
	return "the " + list("partition", s.Partition()) + " and the " + list("sort", s.Sort())
}

// conditions returns the conditions of a request that must all hold, those of its key first.
func (e *explainer) conditions() (key, filter []ast.Node) {
	if e.q.key != nil {
		key = conjuncts(expr.Node(e.q.key))
	}
	if e.q.filter != nil {
		filter = conjuncts(expr.Node(e.q.filter))
	}
	return key, filter
}

// cheaperPlans returns the plans that use a condition of the filter as a key condition, best first.
func (e *explainer) cheaperPlans() (all []*plan) {
	key, filter := e.conditions()
	var g group
	for _, n := range slices.Concat(key, filter) {
		g.add(n, e.info.IsKey)
	}
	for _, p := range e.plans(g) {
		if p.empty || len(p.dropped) > 0 || len(p.filter) >= len(filter) ||
			p.schema.Name() == e.report.Index && e.report.Operation == opQuery {
			continue
		}
		all = append(all, p)
	}
	return all
}

// indexPlan returns the plan of a new index that uses a condition of the filter as a key condition: its partition key
// is that of the query or, of a scan, an attribute that the filter compares with =. Its sort key has the others that
// are compared so, and one that is compared in another way.
func (e *explainer) indexPlan() (*plan, bool) {
	key, filter := e.conditions()
	var g group
	for _, n := range slices.Concat(key, filter) {
		g.add(n, anyName)
	}

	var equal, ranges []keycond.Attribute
	for _, a := range g.atoms {
		one := keycond.Attribute{Name: a.Attribute, Kind: a.Values[0].Kind()}
		is := named(one.Name)
		if slices.ContainsFunc(equal, is) || slices.ContainsFunc(ranges, is) || !e.canHaveKey(one, g) {
			continue
		}
		if c, _ := (&plan{}).clause(one, g.on(one.Name)); c.Op == ast.Equal {
			equal = append(equal, one)
		} else {
			ranges = append(ranges, one)
		}
	}

	var partition, sort []keycond.Attribute
	asked := e.info.Schema(e.report.Index)
	if e.report.Operation == opQuery {
		partition = asked.Partition()
		sort = slices.DeleteFunc(equal, func(a keycond.Attribute) bool { return slices.Contains(partition, a) })
	} else if len(equal) > 0 {
		partition, sort = equal[:1], equal[1:]
	}
	sort = append(slices.Clone(sort[:min(len(sort), keycond.MaxAttributes-1)]), ranges[:min(len(ranges), 1)]...)
	if len(ranges) == 0 && e.report.Operation == opQuery { // the order stays
		for _, a := range asked.Sort() {
			if len(sort) < keycond.MaxAttributes && !slices.Contains(sort, a) {
				sort = append(sort, a)
			}
		}
	}
	if len(partition) == 0 {
		return nil, false
	}

	ix := &keyschema.Index{Key: e.info.Key.NewIndex("", partition, sort), Projection: table.ProjectAll}
	p, ok := e.plan(g, ix)
	p.remarks = nil // what the query reads today has the attributes of its order
	useful := ok && !p.empty && len(p.dropped) == 0 && len(p.filter) < len(filter)
	return p, useful
}

// longestName is the number of bytes of the longest name of a key attribute. Source: DG/Constraints.html.
const longestName = 255

// canHaveKey reports whether an attribute can be in a key, given the conditions on it.
func (e *explainer) canHaveKey(a keycond.Attribute, g group) bool {
	if len(a.Name) > longestName || cmp.Or(e.info.Kind(a.Name), a.Kind) != a.Kind {
		return false
	}
	if touches(conjunction(g.rest), func(name string) bool { return name == a.Name }) { // no filter on a key
		return false
	}
	p := &plan{}
	_, ok := p.clause(a, g.on(a.Name))
	return ok && !p.empty && len(p.remarks) == 0
}

// named reports whether an attribute has a name.
func named(name string) func(keycond.Attribute) bool {
	return func(a keycond.Attribute) bool { return a.Name == name }
}

// noKey says why no key serves the filter, and what to change.
func (e *explainer) noKey() string {
	key, filter := e.conditions()
	if a, ok := atomOf(filter[0], anyName); ok && len(key) == 0 && a.Op != ast.Equal {
		return "give the wanted rows an attribute in common, and make that the partition key of an index, with " +
			text.Name(a.Attribute) + " as its sort key"
	}
	return "no key serves this filter in one query: keys are compared with =, <, <=, >, >=, BETWEEN and begins_with, " +
		"joined by AND; IN is a query for each of its values"
}
