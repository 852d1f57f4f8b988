package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// A Proposal is a way to read less.
type Proposal struct {
	// Text says it, with ? in place of values.
	Text string
	// Index is the index to add, or nil if a table or an index that exists will do, or if none can.
	Index *keyschema.Index
	// Request finds the same with it, or is nil.
	Request wire.Request
}

// ProposedIndex is the name of an index that is to be added.
const ProposedIndex = "New"

// Cheaper says how a Query or a Scan could read less, from the keys of its table and the form of its conditions: it
// reads nothing. It prefers what exists to a new index. It reports false if the request has no filter and is not a
// Scan, or is not one that the service accepts.
func Cheaper(t *keyschema.Table, in wire.Request) (Proposal, bool) {
	r, ok := requestOf(in)
	if !ok || r.op == wire.OpGetItem || t.Schema(value(r.IndexName)) == nil {
		return Proposal{}, false
	}

	e := &explainer{asked: r, info: t, report: &Report{Operation: r.op.String(), Index: value(r.IndexName)}}
	var err error
	if e.q, err = r.parse(); err != nil {
		return Proposal{}, false
	}
	if e.q.filter == nil {
		const whole = "if some of them will do, put what they have in common into a key, and query that"
		return Proposal{Text: "a Scan reads every row: " + whole}, r.op == wire.OpScan
	}

	for _, p := range e.cheaperPlans() {
		if len(p.fixes) == 0 { // otherwise the request finds nothing as it is
			return e.propose("query "+p.place()+" with ", p), true
		}
	}
	if p, ok := e.indexPlan(); ok {
		words := "add a global secondary index with " + keyWords(p.schema) + ", and query it with "
		proposal := e.propose(words, p)
		proposal.Index = p.index
		return proposal, true
	}
	return Proposal{Text: e.noKey()}, true
}

// asShape writes conditions with ? in place of values.
var asShape = ast.Style{Name: text.Name, Value: func(attr.Value) string { return "?" }}

// propose returns the proposal of a plan, whose words begin with those given.
func (e *explainer) propose(words string, p *plan) Proposal {
	var conditions []string
	for _, c := range p.clauses {
		conditions = append(conditions, asShape.Condition(nodeOf(c)))
	}
	words += strings.Join(conditions, " AND ") + ": that reads only these rows"
	if len(p.filter) > 0 {
		words += "; the filter " + asShape.Condition(conjunction(p.filter)) + " stays"
	}
	if p.index != nil && !p.index.Local && value(e.asked.ConsistentRead) {
		words += "; its reads are eventually consistent"
	}
	for _, more := range p.remarks {
		words += "; " + more
	}
	r := e.request(p)
	return Proposal{Text: words, Request: r.input()}
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
		key = conjuncts(e.q.key.Node())
	}
	if e.q.filter != nil {
		filter = conjuncts(e.q.filter.Node())
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
		if slices.ContainsFunc(equal, is) || slices.ContainsFunc(ranges, is) || !e.canBeKey(one, g) {
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

	ix := &keyschema.Index{Key: e.info.Key.NewIndex(ProposedIndex, partition, sort), Projection: table.ProjectAll}
	p, ok := e.plan(g, ix)
	p.remarks, p.partial = nil, 0 // what the query reads today has the attributes of its order
	useful := ok && !p.empty && len(p.dropped) == 0 && len(p.fixes) == 0 && len(p.filter) < len(filter)
	return p, useful
}

// longestName is the number of bytes of the longest name of a key attribute. Source: DG/Constraints.html.
const longestName = 255

// canBeKey reports whether an attribute can be in a key, given the conditions on it.
func (e *explainer) canBeKey(a keycond.Attribute, g group) bool {
	if len(a.Name) > longestName || cmp.Or(e.info.Kind(a.Name), a.Kind) != a.Kind {
		return false
	}
	if touches(conjunction(g.rest), func(name string) bool { return name == a.Name }) { // no filter on a key
		return false
	}
	p := &plan{}
	_, ok := p.clause(a, g.on(a.Name))
	return ok && !p.empty && len(p.fixes)+len(p.remarks) == 0
}

// named reports whether an attribute has a name.
func named(name string) func(keycond.Attribute) bool {
	return func(a keycond.Attribute) bool { return a.Name == name }
}

// partitioned returns where an attribute alone is the partition key.
func (e *explainer) partitioned(name string) (place string, ok bool) {
	is := func(s *keycond.Schema) bool { return len(s.Partition()) == 1 && s.Partition()[0].Name == name }
	if is(e.info.Key) {
		return "the table", true
	}
	for _, ix := range e.info.Indexes {
		if is(ix.Key) {
			return "index " + ix.Key.Name(), true
		}
	}
	return "", false
}

// sparse returns the index of the items that have an attribute: it has no other key that items may lack.
func (e *explainer) sparse(name string) (index string, ok bool) {
	for _, ix := range e.info.Indexes {
		keys := slices.DeleteFunc(slices.Clone(ix.Key.Attributes()), func(a keycond.Attribute) bool {
			return slices.ContainsFunc(e.info.Key.Attributes(), named(a.Name))
		})
		if len(keys) == 1 && keys[0].Name == name {
			return ix.Key.Name(), true
		}
	}
	return "", false
}

// noKey says why no key serves the filter, and what to change.
func (e *explainer) noKey() string {
	key, filter := e.conditions()
	for _, n := range filter {
		switch n := n.(type) {
		case *ast.In:
			if name, ok := keyPath(n.X, anyName); ok && len(name) <= longestName {
				if place, ok := e.partitioned(name); ok {
					return "query " + place + " for each of the values"
				}
				return "make " + text.Name(name) +
					" the partition key of an index, and send a query for each of the values"
			}
		case *ast.Compare:
			if v, ok := n.R.(*ast.ValueOperand); ok && n.Op == ast.Equal {
				if path, ok := n.L.(*ast.PathOperand); ok && len(path.Path) > 1 {
					return "a key is an attribute of the item itself: copy " + asShape.Path(path.Path) +
						" to one, and make that a key of an index"
				}
				if name, ok := keyPath(n.L, anyName); ok && !v.Value.Kind().IsScalar() {
					return "a key is a string, a number or binary: store " + text.Name(name) +
						" as one of these, and make that a key of an index"
				}
			}
		case *ast.Call:
			if name, ok := keyPath(n.Args[0], anyName); ok && n.Func == ast.AttributeExists {
				asked := e.info.Schema(e.report.Index)
				if slices.ContainsFunc(slices.Concat(e.info.Key.Attributes(), asked.Attributes()), named(name)) {
					continue // all that it reads have it
				}
				if index, ok := e.sparse(name); ok && len(key) == 0 {
					return "scan index " + index + ": only items that have " + text.Name(name) + " are there"
				}
				return "make " + text.Name(name) + " a key of an index: only items that have it are there"
			}
		}
	}
	a, ok := atomOf(filter[0], anyName)
	if kind := e.info.Kind(a.Attribute); ok && kind != 0 && kind != a.Values[0].Kind() {
		return "it finds nothing: " + text.Name(a.Attribute) + " is " + kindWord(kind) +
			", and the filter compares it with another type"
	}
	if ok && len(key) == 0 && a.Op != ast.Equal {
		return "give the wanted rows an attribute in common, and make that the partition key of an index, with " +
			text.Name(a.Attribute) + " as its sort key"
	}
	return "no key serves this filter: keys are compared with =, <, <=, >, >=, BETWEEN and begins_with, " +
		"joined by AND"
}
