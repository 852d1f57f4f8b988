package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// Cheaper says how a Query or a Scan could read less. It sends no request, but compares the conditions with the keys
// of the table. It prefers an existing index to a new one. In the text, ? stands for the values of conditions.
// Cheaper returns "" for a GetItem, for a Query without a filter and for an invalid request.
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
	return cmp.Or(e.cheaper(asShape), "no key serves this filter in one query: keys are compared with =, <, <=, >, "+
		">=, BETWEEN and begins_with, joined by AND; IN is a query for each of its values")
}

// cheapened returns an explainer for a Query or a Scan. The explainer sends no requests. cheapened returns false if
// the input is invalid or belongs to another operation.
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

// asShape formats conditions with ? in place of values.
var asShape = ast.Style{Name: text.Name, Value: func(attr.Value) string { return "?" }}

// cheaper names the query of the table or of an index that would read less. If there is none, it says which new key
// would help. It returns "" if no key can serve the filter. style formats the conditions.
func (e *explainer) cheaper(style ast.Style) string {
	all := e.cheaperPlans()
	if len(all) == 0 {
		return e.newKey()
	}
	how := all[0].words(style)
	if x := all[0].index; x != nil && !x.Local && value(e.asked.ConsistentRead) {
		how += "; its reads are eventually consistent"
	}
	return how
}

// improve adds a hint about how to read less, if the request has a filter that drops rows.
func (e *explainer) improve() {
	r := e.report
	if r.Operation == opGetItem || e.q.filter == nil || r.Wasted == 0 || r.Examined == 1 {
		return
	}
	if how := e.cheaper(spelled); how != "" {
		e.hint("to read less, %s", how)
	}
}

// nodeOf returns the syntax tree of a clause.
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

// conditions returns the conditions that AND joins in the key condition, and those in the filter.
func (e *explainer) conditions() (key, filter []ast.Node) {
	if e.q.key != nil {
		key = conjuncts(expr.Node(e.q.key))
	}
	if e.q.filter != nil {
		filter = conjuncts(expr.Node(e.q.filter))
	}
	return key, filter
}

// inPartition reports whether the conditions compare the whole partition key with =.
func (e *explainer) inPartition() bool {
	key, filter := e.conditions()
	var g group
	for _, n := range slices.Concat(key, filter) {
		g.add(n, anyName)
	}
	return g.fixes(e.info.Schema(e.report.Index))
}

// cheaperPlans returns the plans whose queries need fewer filter conditions than the request, the best plan first.
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

// newKey describes a new key with which one query could read the rows. It prefers an index whose key has conditions
// of the filter, and else proposes a new attribute. It returns "" if no condition can be in a key.
func (e *explainer) newKey() string { return cmp.Or(e.newIndex(), e.newAttribute()) }

// newIndex describes a new index whose key has conditions of the filter, or conditions that a refused query tried to
// use in its key condition. It returns "" if there are no such conditions.
//
// The new index keeps the partition key of the request if the conditions compare all of it with =. Otherwise, the
// partition key is the first attribute that they compare with =. The sort key consists of the other attributes that
// they compare with =, followed by the first attribute with a range. If there is no range, the sort key of the
// request follows instead, so that a query keeps its order.
func (e *explainer) newIndex() string {
	key, filter := e.conditions()
	var partition, sort, ranged, order []string
	fewer := !e.inPartition() // fewer: the new key has a condition that cannot be in the request's key
	if !fewer {
		asked := e.info.Schema(e.report.Index)
		partition, order = namesOf(asked.Partition()), namesOf(asked.Sort())
	}
	for i, n := range slices.Concat(key, filter) {
		a, ok := atomOf(n, anyName)
		if !ok || slices.Contains(slices.Concat(partition, sort, ranged), a.Attribute) || !e.canBeInKey(a) {
			continue
		}
		switch {
		case a.Op == ast.Equal && len(partition) == 0:
			partition = []string{a.Attribute}
		case a.Op == ast.Equal:
			sort = append(sort, a.Attribute)
		case len(ranged) == 0:
			ranged = []string{a.Attribute}
		default:
			continue
		}
		fewer = fewer || i >= len(key)
	}
	if !fewer || len(partition) == 0 {
		return ""
	}

	words := "add a global secondary index with the partition key " + list(partition)
	if len(ranged) == 0 {
		ranged = order
	}
	for _, name := range ranged {
		if !slices.Contains(sort, name) {
			sort = append(sort, name)
		}
	}
	if len(sort) > 0 {
		words += " and the sort key " + list(sort[:min(len(sort), keycond.MaxAttributes)])
	}
	return words + ", and query it"
}

func namesOf(attributes []keycond.Attribute) (names []string) {
	for _, a := range attributes {
		names = append(names, a.Name)
	}
	return names
}

// list quotes the names of attributes where necessary and joins them.
func list(names []string) string {
	var parts []string
	for _, name := range names {
		parts = append(parts, text.Name(name))
	}
	return strings.Join(parts, ", ")
}

// longestName is the longest name of a key attribute, in bytes. Source: DG/Constraints.html.
const longestName = 255

// canBeInKey reports whether the attribute and the values of a condition can be in a key.
func (e *explainer) canBeInKey(a atom) bool {
	kind := a.Values[0].Kind()
	return len(a.Attribute) <= longestName && cmp.Or(e.info.Kind(a.Attribute), kind) == kind &&
		!slices.ContainsFunc(a.Values, func(v attr.Value) bool { return !canBeKey(v) })
}

// newAttribute proposes an index for a condition with a range. All wanted rows get a common value in a new attribute,
// which is the partition key of this index. newAttribute returns "" if there is no such condition, or if the request
// reads only one partition.
func (e *explainer) newAttribute() string {
	key, filter := e.conditions()
	for _, n := range slices.Concat(key, filter) {
		if a, ok := atomOf(n, anyName); ok && a.Op != ast.Equal && !e.inPartition() {
			return "give the wanted rows an attribute in common, and make that the partition key of an index, with " +
				text.Name(a.Attribute) + " as its sort key"
		}
	}
	return ""
}
