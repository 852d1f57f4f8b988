package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// maxPlans limits the plans offered for one group if each of them has a remark.
const maxPlans = 2

// otherWays offers requests that find what a query that breaks a rule asks for.
func (e *explainer) otherWays(broken *rule, s *keycond.Schema) error {
	var root ast.Node
	if e.q.key != nil {
		root = e.q.key.Node()
	}

	groups := []group{{}}
	if root != nil {
		var ok bool
		if groups, ok = normal(root, e.info.IsKey); !ok {
			e.advise("split the request: it is more than %d ranges", maxGroups)
			return nil
		}
	}

	var filter []ast.Node
	if e.q.filter != nil {
		filter = conjuncts(e.q.filter.Node())
	}
	for i := range groups {
		for _, n := range filter {
			groups[i].add(n, e.info.IsKey)
		}
		if a, ok := e.impossible(groups[i]); ok && len(groups) == 1 {
			e.advise(
				"no row matches: %s is %s, and %s cannot be converted", text.Name(a.Attribute),
				kindWord(e.info.Kind(a.Attribute)), text.Literal(a.Values[0]),
			)
			return nil
		}
		groups[i].withoutEmpty()
		e.numberPrefixes(&groups[i])
	}

	if len(groups) == 1 {
		e.oneGroup(groups[0], broken, s)
	} else {
		e.manyGroups(groups)
	}

	switch broken.kind {
	case partitionRule:
		e.advisePartition(groups, s)
	case searchRule:
		e.advise("to find it by key, store the value in its own attribute and make that a key of an index")
	}

	var all []ast.Node
	if root != nil {
		all = append(all, root)
	}
	e.offerScan(groups, append(all, filter...))
	return nil
}

// impossible returns a condition whose value cannot be converted to the type of
// the key attribute.
func (e *explainer) impossible(g group) (atom, bool) {
	for _, a := range g.atoms {
		for _, v := range a.Values {
			if _, ok := convert(v, e.info.Kind(a.Attribute)); !ok && a.Op != ast.OpBeginsWith {
				return a, true
			}
		}
	}
	return atom{}, false
}

// withoutEmpty removes conditions with empty values, which no key can have.
func (g *group) withoutEmpty() {
	g.atoms = slices.DeleteFunc(g.atoms, func(a atom) bool {
		return slices.ContainsFunc(a.Values, func(v attr.Value) bool {
			return v.Kind() != attr.Number && len(v.Raw()) == 0
		})
	})
}

// oneGroup offers the queries for one group.
func (e *explainer) oneGroup(g group, broken *rule, s *keycond.Schema) {
	offered := 0
	for _, p := range e.plans(g) {
		if p.empty {
			e.advise("no row can satisfy both conditions on the attribute")
			return
		}
		if !e.offer(p.words(), e.request(p)) {
			continue
		}
		if offered++; offered == maxPlans || len(p.dropped)+len(p.remarks) == 0 {
			return
		}
	}
	if offered == 0 && broken.kind == partitionRule {
		e.findPartition(g, s)
	}
}

// manyGroups offers a request for each group, and one for all groups if
// possible.
func (e *explainer) manyGroups(groups []group) {
	var plans []*plan
	for _, g := range groups {
		list := e.plans(g)
		switch {
		case len(list) == 0:
			return
		case !list[0].empty:
			plans = append(plans, list[0])
		}
	}

	plans = merge(plans)
	switch len(plans) {
	case 0:
		e.advise("no row can satisfy all conditions")
		return
	case 1:
		e.offer(plans[0].words(), e.request(plans[0]))
		return
	}

	if keys, ok := e.batch(plans); ok {
		e.offerInput(fmt.Sprintf("read the %d items by their keys in one request", len(plans)), keys, keys)
	}
	for i, p := range plans {
		e.offer(
			fmt.Sprintf("send %d queries and combine their results, %d of %[1]d: %[3]s", len(plans), i+1, p.words()),
			e.request(p),
		)
	}

	if p, ok := hull(plans); ok {
		e.offer("or "+p.words()+"; this also reads the rows between the ranges, so filter in the program", e.request(p))
	}
}

// batch returns the request for the items of plans that each read one item of the table.
func (e *explainer) batch(plans []*plan) (*wire.BatchGetItemInput, bool) {
	const most = 100 // API_BatchGetItem.html
	var keys []attr.Item
	for _, p := range plans {
		if p.index != nil || len(p.filter) > 0 || len(p.dropped) > 0 || len(p.clauses) != len(e.info.Key.Attributes()) {
			return nil, false
		}
		var b attr.Builder
		for _, c := range p.clauses {
			if c.Op != ast.Equal {
				return nil, false
			}
			b.Add(c.Attribute, c.Values[0])
		}
		key := b.Item()
		if !slices.ContainsFunc(keys, key.Equal) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 || len(keys) > most {
		return nil, false
	}

	read := wire.KeysAndAttributes{Keys: keys}
	if value(e.asked.ConsistentRead) {
		read.ConsistentRead = new(true)
	}
	return &wire.BatchGetItemInput{RequestItems: map[string]wire.KeysAndAttributes{e.info.Name: read}}, true
}

// merge joins plans whose ranges overlap or adjoin, so that no row is read
// twice.
func merge(plans []*plan) []*plan {
	var out []*plan
	for _, p := range plans {
		for i := 0; i < len(out); i++ {
			if p.text() == out[i].text() {
				p = out[i]
			} else if all, ok := hull([]*plan{out[i], p}); ok && adjoin(out[i], p) {
				p = all
			} else {
				continue
			}
			out = slices.Delete(out, i, i+1)
			i = -1 // it may adjoin earlier plans now
		}
		out = append(out, p)
	}
	return out
}

// text identifies what a plan asks for.
func (p *plan) text() string {
	return p.schema.Name() + " " + clausesText(p.clauses) + " " + spelled.Condition(conjunction(p.filter)) + " " +
		spelled.Condition(conjunction(p.dropped))
}

// adjoin reports whether no key lies between the ranges of two plans that have
// a hull.
func adjoin(p, q *plan) bool {
	pl, ph := p.edges()
	ql, qh := q.edges()
	before := func(high, low edge) bool { // there is a gap between them
		if high.open || low.open {
			return false
		}
		c, _ := attr.Compare(high.value, low.value)
		return c < 0 || c == 0 && !high.inclusive && !low.inclusive
	}
	return !before(ph, ql) && !before(qh, pl)
}

// hull returns one range that contains the ranges of all plans, if they differ
// only in their last condition.
func hull(plans []*plan) (*plan, bool) {
	if len(plans) < 2 {
		return nil, false
	}
	first := plans[0]
	n := len(first.clauses) - 1
	if n < len(first.schema.Partition()) {
		return nil, false
	}
	low, high := first.edges()
	for _, p := range plans[1:] {
		if p.schema != first.schema || len(p.clauses) != n+1 ||
			spelled.Condition(conjunction(p.filter)) != spelled.Condition(conjunction(first.filter)) ||
			len(p.dropped) > 0 ||
			clausesText(p.clauses[:n]) != clausesText(first.clauses[:n]) {
			return nil, false
		}
		l, h := p.edges()
		low, high = looser(low, l, 1), looser(high, h, -1)
	}
	all := &plan{schema: first.schema, index: first.index, clauses: first.clauses[:n:n], filter: first.filter}
	if c, ok := all.between(first.schema.Attribute(n), low, high); ok {
		all.clauses = append(all.clauses, c)
	}
	return all, true
}

// looser returns the edge that lets more rows through.
func looser(a, b edge, sign int) edge {
	if a.open || b.open {
		return edge{open: true}
	}
	n, _ := attr.Compare(a.value, b.value)
	if n *= sign; n < 0 || n == 0 && a.inclusive {
		return a
	}
	return b
}

// offerScan offers a scan that finds the groups, unless a query finds one
// without leaving conditions to the program.
func (e *explainer) offerScan(groups []group, conditions []ast.Node) {
	if len(groups) > 1 || len(groups) == 1 && conditions != nil {
		for _, g := range groups {
			for _, p := range e.plans(g) {
				if len(p.dropped) == 0 {
					return
				}
			}
		}
	}
	if conditions == nil && len(groups) == 1 {
		for _, a := range groups[0].atoms {
			conditions = append(conditions, a.node)
		}
		conditions = append(conditions, groups[0].rest...)
	}
	r := e.scan(conditions)
	if n := conjunction(conditions); n != nil {
		e.offer("scan the table with the filter "+spelled.Condition(n)+"; this works, but reads every row", r)
	} else {
		e.offer("scan the table if you want every row", r)
	}
}

// searchRows limits the rows read to find partitions.
const searchRows = 200

// findPartition offers a query of an existing partition, for a condition that
// does not name one.
func (e *explainer) findPartition(g group, s *keycond.Schema) {
	if len(s.Partition()) != 1 {
		return
	}

	h := s.Partition()[0]
	var conditions []ast.Node
	rest := group{rest: g.rest}
	for _, a := range g.atoms {
		if a.Attribute != h.Name {
			rest.atoms = append(rest.atoms, a)
			continue
		}
		conditions = append(conditions, a.node)
	}

	r := e.scan(conditions)
	r.Limit, r.ProjectionExpression = new(int64(searchRows)), nil
	if s.Name() != "" {
		r.IndexName = new(s.Name())
	}

	p, err := e.ask(r.pruned())
	if err != nil || len(p.items) == 0 {
		return
	}
	var found []attr.Value
	for _, it := range p.items {
		if v := it.Get(h.Name); !slices.ContainsFunc(found, func(f attr.Value) bool { return attr.Equal(f, v) }) {
			found = append(found, v)
		}
	}

	rest.atoms = append(rest.atoms, equalTo(h.Name, found[0]))
	best, ok := e.plan(rest, e.info.Index(s.Name()))
	if !ok || best.empty {
		return
	}

	const shown = 3
	texts := make([]string, 0, shown)
	for _, v := range found[:min(len(found), shown)] {
		texts = append(texts, text.Literal(v))
	}

	some := strings.Join(texts, ", ")
	if len(found) > shown {
		some += ", …"
	}
	what := "query the partitions one by one"
	if len(conditions) == 0 {
		what = "name the partition"
	}

	e.offer(
		fmt.Sprintf(
			"%s (%s in the first %d rows: %s): %s",
			what, text.Count(len(found), "partition"), searchRows, some, best.words(),
		),
		e.request(best),
	)
}

// advisePartition says which key would turn a condition that names no partition
// into one slice.
func (e *explainer) advisePartition(groups []group, s *keycond.Schema) {
	for _, g := range groups {
		for _, h := range s.Partition() {
			for _, a := range g.on(h.Name) {
				if a.Op == ast.Equal {
					continue
				}

				what := keycond.Clause{Attribute: h.Name, Op: a.Op, Values: a.Values}.String()
				if a.Op == ast.OpBeginsWith {
					e.advise(
						"for one slice, store the common prefix, %s, in its own attribute and make that the "+
							"partition key of an index with the sort key %s: then compare the prefix with =, "+
							"and use %s as the condition on the sort key",
						text.Literal(a.Values[0]), text.Name(h.Name), what,
					)
				} else {
					e.advise(
						"for one slice, make %s the sort key of an index whose partition key the wanted rows share: "+
							"then %s can be the condition on it",
						text.Name(h.Name), what,
					)
				}
				return
			}
		}
		for _, a := range g.atoms {
			if s.Has(a.Attribute) && len(e.plans(g)) == 0 {
				e.advise(
					"for one slice without the partition key, make %s the partition key of an index",
					text.Name(a.Attribute),
				)
				return
			}
		}
	}
}

// numberPrefixes replaces begins_with on a number by a range of numbers with as
// many digits as an existing number.
func (e *explainer) numberPrefixes(g *group) {
	for i, a := range g.atoms {
		if a.Op != ast.OpBeginsWith || e.info.Kind(a.Attribute) != attr.Number {
			continue
		}

		prefix := string(a.Values[0].Raw())
		if a.Values[0].Kind() == attr.Number {
			prefix = string(a.Values[0].AppendNumber(nil))
		}
		if !digits(prefix) {
			continue
		}

		others := group{rest: g.rest, atoms: slices.Delete(slices.Clone(g.atoms), i, i+1)}
		more := 0
		for _, p := range e.plans(others) {
			r := e.request(p)
			r.Limit, r.FilterExpression, r.ProjectionExpression = new(int64(1)), nil, nil
			found, err := e.ask(r.pruned())
			if err != nil || len(found.items) == 0 {
				continue
			}
			if n := string(found.items[0].Get(a.Attribute).AppendNumber(nil)); digits(n) && len(n) > len(prefix) {
				more = len(n) - len(prefix)
			}
			break
		}

		low, err := attr.NewNumber(prefix + strings.Repeat("0", more))
		high, err2 := attr.NewNumber(prefix + strings.Repeat("9", more))
		if err != nil || err2 != nil {
			continue
		}
		if more == 0 {
			g.atoms[i] = equalTo(a.Attribute, low)
			continue
		}

		a.Op, a.Values = ast.OpBetween, []attr.Value{low, high}
		a.node = &ast.Between{
			X: attribute(a.Attribute), Lo: &ast.ValueOperand{Value: low}, Hi: &ast.ValueOperand{Value: high},
		}
		g.atoms[i] = a
	}
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// improve looks for a cheaper request in place of one with a filter: a query
// that uses a condition of the filter as a key condition.
func (e *explainer) improve() error {
	r := e.report
	if r.Operation == opGetItem || e.q.filter == nil || r.Wasted == 0 {
		return nil
	}

	for _, p := range e.cheaperPlans() {
		if p.index != nil && !p.index.Local && r.Consistent {
			p.remarks = append(p.remarks, "the index does not support strongly consistent reads")
		}
		if e.offer("read less: "+p.words(), e.request(p)) {
			break
		}
	}
	return nil
}
