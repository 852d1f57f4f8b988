package explain

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

// A plan is a query of a table or an index that finds the rows of a group.
type plan struct {
	schema  *keycond.Schema
	index   *keyschema.Index // nil for the table
	clauses []keycond.Clause
	filter  []ast.Node
	// dropped are conditions that the query cannot express, so the program must check them.
	dropped []ast.Node
	// empty is true if no row can satisfy all conditions of the group.
	empty bool
	// remarks say how the result of the query differs from that of the request. sparse is true if the index may lack
	// some rows that the request reads.
	remarks []string
	sparse  bool
}

// plan returns the plan to query an index, or the table if ix is nil, for the rows of a group. It returns false if no
// query there finds them.
func (e *explainer) plan(g group, ix *keyschema.Index) (*plan, bool) {
	s := e.info.Key
	if ix != nil {
		s = ix.Key
	}

	p := &plan{schema: s, index: ix}
	used := map[string]bool{}
	for _, a := range s.Partition() {
		c, ok := p.clause(a, g.on(a.Name))
		if !ok || c.Op != ast.Equal {
			return p, false
		}
		p.clauses, used[a.Name] = append(p.clauses, c), true
	}

	for _, a := range s.Sort() {
		c, ok := p.clause(a, g.on(a.Name))
		if !ok {
			break
		}
		p.clauses, used[a.Name] = append(p.clauses, c), true
		if c.Op != ast.Equal {
			break
		}
	}

	for _, a := range g.atoms {
		switch {
		case used[a.Attribute]:
		case s.Has(a.Attribute):
			p.dropped = append(p.dropped, a.node)
		default:
			p.filter = append(p.filter, a.node)
		}
	}

	for _, n := range g.rest {
		switch {
		case touches(n, s.Has):
			p.dropped = append(p.dropped, n)
		default:
			p.filter = append(p.filter, n)
		}
	}

	if ix != nil && (touches(conjunction(p.filter), ix.Lacks) || !ix.Local && lacking(ix, e.q.projection) != nil) {
		return p, false
	}
	if ix != nil && s.Name() != value(e.asked.IndexName) {
		for _, a := range s.Sort() {
			if len(g.on(a.Name)) == 0 && !e.info.Key.Has(a.Name) {
				p.remarks = append(p.remarks, "this finds only items that have "+text.Name(a.Name))
				p.sparse = true
			}
		}
	}

	if ix != nil && ix.Projection != table.ProjectAll && s.Name() != value(e.asked.IndexName) {
		switch {
		case ix.Local && (e.q.projection == nil || lacking(ix, e.q.projection) != nil):
			p.remarks = append(p.remarks, "the index lacks attributes, so each row costs another read from the table")
		case e.q.projection == nil:
			p.remarks = append(p.remarks, "this returns only the attributes that the index holds")
		}
	}
	return p, true
}

func (g group) on(name string) (out []atom) {
	for _, a := range g.atoms {
		if a.Attribute == name {
			out = append(out, a)
		}
	}
	return out
}

// fixes reports whether the group has a condition with = on each attribute of the partition key.
func (g group) fixes(s *keycond.Schema) bool {
	return !slices.ContainsFunc(s.Partition(), func(h keycond.Attribute) bool {
		return !slices.ContainsFunc(g.on(h.Name), func(a atom) bool { return a.Op == ast.Equal })
	})
}

// touches reports whether n uses a top-level attribute whose name is() accepts.
func touches(n ast.Node, is func(string) bool) bool {
	if n == nil {
		return false
	}
	for name := range expr.TopLevel(expr.NewCondition(n)) {
		if is(name) {
			return true
		}
	}
	return false
}

// clause returns one key condition on a that is equivalent to all atoms together. It returns false if there is no
// such condition.
func (p *plan) clause(a keycond.Attribute, atoms []atom) (keycond.Clause, bool) {
	low, high := edge{open: true}, edge{open: true}
	for _, at := range atoms {
		wrong := func(v attr.Value) bool { return v.Kind() != a.Kind || !canBeKey(v) }
		if slices.ContainsFunc(at.Values, wrong) || at.Op == ast.OpBeginsWith && a.Kind == attr.Number {
			return keycond.Clause{Attribute: a.Name}, false
		}
		l, h := edges(at.Clause)
		low, high = tighter(low, l, 1), tighter(high, h, -1)
	}

	// If one of the atoms implies all others, return this atom.
	for _, at := range atoms {
		l, h := edges(at.Clause)
		if sameEdge(l, low) && sameEdge(h, high) {
			return at.Clause, true
		}
	}
	return p.between(a, low, high)
}

// canBeKey reports whether v can be the value of a key attribute.
func canBeKey(v attr.Value) bool {
	return v.Kind() == attr.Number || len(v.Raw()) > 0 && len(v.Raw()) <= keycond.MaxPartitionKeyBytes
}

// between returns a key condition on a for the range from low to high. BETWEEN includes both ends. If the atoms
// exclude an end, between adds a remark that says so.
func (p *plan) between(a keycond.Attribute, low, high edge) (keycond.Clause, bool) {
	c := keycond.Clause{Attribute: a.Name}
	switch {
	case low.open && high.open:
		return c, false
	case high.open:
		c.Op, c.Values = ast.Greater, []attr.Value{low.value}
		if low.inclusive {
			c.Op = ast.GreaterOrEqual
		}
		return c, true
	case low.open:
		c.Op, c.Values = ast.Less, []attr.Value{high.value}
		if high.inclusive {
			c.Op = ast.LessOrEqual
		}
		return c, true
	}

	n, _ := attr.Compare(low.value, high.value)
	if n > 0 || n == 0 && !(low.inclusive && high.inclusive) {
		p.empty = true
	}
	var ends []string
	for _, side := range []edge{low, high} {
		if !side.inclusive {
			ends = append(ends, text.Literal(side.value))
		}
	}

	if ends != nil {
		p.remarks = append(
			p.remarks, "BETWEEN includes both ends, so drop rows at "+strings.Join(ends, " or ")+" in the program",
		)
	}

	c.Op, c.Values = ast.OpBetween, []attr.Value{low.value, high.value}
	if n == 0 {
		c.Op, c.Values = ast.Equal, c.Values[:1]
	}
	return c, true
}

// tighter returns the edge that admits fewer rows. For two low edges, sign is 1 and tighter returns the higher one.
// For two high edges, sign is -1 and it returns the lower one.
func tighter(a, b edge, sign int) edge {
	if a.open {
		return b
	}
	if b.open {
		return a
	}
	n, _ := attr.Compare(a.value, b.value)
	if n *= sign; n > 0 || n == 0 && !a.inclusive {
		return a
	}
	return b
}

func sameEdge(a, b edge) bool {
	return a.open == b.open && (a.open || a.inclusive == b.inclusive && attr.Equal(a.value, b.value))
}

func kindWord(k attr.Kind) string {
	switch k {
	case attr.Number:
		return "a number"
	case attr.Binary:
		return "binary"
	}
	return "a string"
}

// place names the table or index that a plan queries.
func (p *plan) place() string {
	if p.index == nil {
		return "the table"
	}
	return "index " + p.index.Key.Name()
}

// plans returns the plans for a group, the cheapest by [plan.cost] first.
func (e *explainer) plans(g group) []*plan {
	var out []*plan
	for _, ix := range append([]*keyschema.Index{nil}, e.info.Indexes...) {
		if p, ok := e.plan(g, ix); ok {
			out = append(out, p)
		}
	}
	asked := value(e.asked.IndexName)
	slices.SortStableFunc(out, func(p, q *plan) int { return p.cost(asked) - q.cost(asked) })
	return out
}

// cost ranks plans: the plan with the lowest cost is best. It adds 2000 if the index may lack rows, 1000 for each
// condition that the program must check, 15 for each remark, 5 if the plan queries another table or index than the
// request, and 1 for each condition in the filter. It subtracts 10 for each key condition.
func (p *plan) cost(asked string) int {
	n := len(p.dropped)*1000 - len(p.clauses)*10 + len(p.filter) + len(p.remarks)*15
	if p.schema.Name() != asked {
		n += 5
	}
	if p.sparse {
		n += 2000
	}
	return n
}
