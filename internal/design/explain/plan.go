package explain

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// A plan is a query of a table or an index that finds a group.
type plan struct {
	schema  *keycond.Schema
	index   *keyschema.Index // nil for the table
	clauses []keycond.Clause
	filter  []ast.Node
	// dropped are conditions that neither the key condition nor the filter can
	// express, so the program must check them.
	dropped []ast.Node
	// empty is true if no row can satisfy the group.
	empty bool
	// remarks say how the result of the plan differs. partial counts the
	// remarks about missing results.
	remarks []string
	partial int
	// fixes say what the plan corrects.
	fixes []string
	// low and high are the intended edges of the last clause if its own are
	// wider, because BETWEEN includes both ends.
	low, high *edge
	// all asks a local index for attributes that it must fetch from the table.
	all bool
}

// plan returns the plan for a group on a table or index, and whether there is
// one.
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
		case always(n, s):
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
				p.partial++
			}
		}
	}

	if ix != nil && ix.Projection != table.ProjectAll && s.Name() != value(e.asked.IndexName) {
		p.all = ix.Local && e.q.projection == nil
		switch {
		case p.all || ix.Local && lacking(ix, e.q.projection) != nil:
			p.remarks = append(p.remarks, "the index lacks attributes, so each row costs another read from the table")
		case e.q.projection == nil:
			p.remarks = append(p.remarks, "this returns only the attributes that the index holds")
			p.partial++
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

// always reports whether n holds for every row of s.
func always(n ast.Node, s *keycond.Schema) bool {
	c, ok := n.(*ast.Call)
	if !ok || c.Func != ast.AttributeExists || len(c.Args) != 1 {
		return false
	}
	_, ok = keyPath(c.Args[0], func(name string) bool {
		return slices.ContainsFunc(s.Attributes(), func(a keycond.Attribute) bool { return a.Name == name })
	})
	return ok
}

// touches reports whether n uses an attribute for which is returns true.
func touches(n ast.Node, is func(string) bool) bool {
	if n == nil {
		return false
	}
	for name := range expr.NewCondition(n).TopLevel() {
		if is(name) {
			return true
		}
	}
	return false
}

// clause returns one condition on a that is equivalent to all atoms.
func (p *plan) clause(a keycond.Attribute, atoms []atom) (keycond.Clause, bool) {
	c := keycond.Clause{Attribute: a.Name}
	if len(atoms) == 0 {
		return c, false
	}

	var clauses []keycond.Clause
	low, high := edge{open: true}, edge{open: true}
	for _, at := range atoms {
		one := keycond.Clause{Attribute: a.Name, Op: at.Op}
		for _, v := range at.Values {
			to, ok := convert(v, a.Kind)
			if !ok || tooLong(to) {
				return c, false
			}
			if to.Kind() != v.Kind() {
				p.fixes = append(
					p.fixes, text.Name(a.Name)+" is "+kindWord(a.Kind)+", so send "+string(to.AppendJSON(nil)),
				)
			}
			one.Values = append(one.Values, to)
		}

		if one.Op == ast.OpBeginsWith && a.Kind == attr.Number {
			return c, false
		}
		if one.Op == ast.OpBetween {
			if n, _ := attr.Compare(one.Values[0], one.Values[1]); n > 0 && len(atoms) == 1 {
				slices.Reverse(one.Values)
				p.fixes = append(p.fixes, "the lower bound comes first")
			}
		}
		if a.Kind != attr.Number &&
			slices.ContainsFunc(one.Values, func(v attr.Value) bool { return len(v.Raw()) == 0 }) {
			return c, false
		}

		clauses = append(clauses, one)
		l, h := edges(one)
		low, high = tighter(low, l, 1), tighter(high, h, -1)
	}

	// One of them may imply the others.
	for _, one := range clauses {
		l, h := edges(one)
		if sameEdge(l, low) && sameEdge(h, high) {
			return one, true
		}
	}
	return p.between(a, low, high)
}

// between returns the condition on a between two edges.
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
		p.low, p.high = &low, &high
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

// edges returns the intended edges of the last clause.
func (p *plan) edges() (low, high edge) {
	if p.low != nil {
		return *p.low, *p.high
	}
	return edges(p.clauses[len(p.clauses)-1])
}

// tighter returns the edge that lets fewer rows through: the higher of two low
// edges (sign 1), or the lower of two high edges (sign -1).
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

// convert converts a value to another kind, if possible.
func convert(v attr.Value, kind attr.Kind) (attr.Value, bool) {
	switch {
	case v.Kind() == kind:
		return v, true
	case kind == attr.String && v.Kind() == attr.Number:
		return attr.NewString(string(v.AppendNumber(nil))), true
	case kind == attr.String && v.Kind() == attr.Binary && utf8.Valid(v.Raw()):
		return attr.NewString(string(v.Raw())), true
	case kind == attr.Number && v.Kind() == attr.String:
		n, err := attr.NewNumber(string(v.Raw()))
		return n, err == nil
	case kind == attr.Binary && v.Kind() == attr.String:
		return attr.NewBinary(v.Raw()), true
	}
	return attr.Value{}, false
}

func tooLong(v attr.Value) bool {
	return v.Kind() != attr.Number && len(v.Raw()) > keycond.MaxPartitionKeyBytes
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

// request returns the plan as a request, with the other members of the
// original.
func (e *explainer) request(p *plan) request {
	b := &literal.Placeholders{Readable: true}
	q := e.base(wire.OpQuery)
	q.ScanIndexForward = e.asked.ScanIndexForward
	if p.index != nil {
		q.IndexName = new(p.index.Key.Name())
		if !p.index.Local {
			q.ConsistentRead = nil
		}
	}
	switch value(q.Select) {
	case "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES":
		q.Select = nil
	}
	if p.all && q.Select == nil {
		q.Select = new("ALL_ATTRIBUTES")
	}
	q.KeyConditionExpression = new(b.KeyCondition(p.clauses))
	if len(p.filter) > 0 {
		q.FilterExpression = new(b.Condition(conjunction(p.filter)))
	}
	e.project(&q, b)
	q.bind(b)
	return q
}

// base returns a request of an operation with the members of the original that do not
// say which rows and attributes it asks for.
func (e *explainer) base(op wire.Op) request {
	r := request{op: op}
	r.TableName, r.Select = e.asked.TableName, e.asked.Select
	r.ConsistentRead, r.ReturnConsumedCapacity = e.asked.ConsistentRead, e.asked.ReturnConsumedCapacity
	if value(e.asked.Limit) > 0 {
		r.Limit = e.asked.Limit
	}
	return r
}

func (e *explainer) project(r *request, b *literal.Placeholders) {
	if e.q.projection != nil {
		r.ProjectionExpression = new(b.Projection(e.q.projection.Paths()))
	} else if value(r.Select) == "SPECIFIC_ATTRIBUTES" {
		r.Select = nil
	}
}

// scan returns a Scan whose filter has all conditions. Unlike the filter of a
// Query, it may use key attributes.
func (e *explainer) scan(conditions []ast.Node) request {
	b := &literal.Placeholders{Readable: true}
	r := e.base(wire.OpScan)
	r.Segment, r.TotalSegments, r.Limit = e.asked.Segment, e.asked.TotalSegments, nil
	if value(r.Select) == "ALL_PROJECTED_ATTRIBUTES" {
		r.Select = nil
	}
	if n := conjunction(conditions); n != nil {
		r.FilterExpression = new(b.Condition(n))
	}
	e.project(&r, b)
	r.bind(b)
	return r
}

// plans returns the plans for a group, best first: see [plan.cost].
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

// cost ranks plans: lower is better. Conditions that the program must check
// count most. One more key condition outweighs nine more conditions in the
// filter, but not a partial result. Using another table or index than the
// request costs half a key condition.
func (p *plan) cost(asked string) int {
	n := len(p.dropped)*1000 - len(p.clauses)*10 + len(p.filter) + p.partial*15
	if p.schema.Name() != asked {
		n += 5
	}
	return n
}

// words describes a plan and what it leaves to the program.
func (p *plan) words() string {
	var b strings.Builder
	b.WriteString("query " + p.place() + " with " + clausesText(p.clauses))
	if len(p.filter) > 0 {
		b.WriteString(", and the filter " + spelled.Condition(conjunction(p.filter)))
	}
	if len(p.dropped) > 0 {
		b.WriteString("; check " + spelled.Condition(conjunction(p.dropped)) + " in the program")
	}
	for _, r := range slices.Concat(p.fixes, p.remarks) {
		b.WriteString("; " + r)
	}
	return b.String()
}
