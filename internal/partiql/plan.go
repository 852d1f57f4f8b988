package partiql

import (
	"bytes"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// MaxSlices is the maximum number of slices that one SELECT reads. Source: DG/ql-operators.html, IN: up to 50 values
// of the partition key.
const MaxSlices = 50

// A Plan describes how to read the items of a SELECT: its slices one after the other or, if it has no slices, the
// whole table or index with a scan.
type Plan struct {
	Slices  []*keycond.Slice
	Reverse bool // read each slice in descending order of the sort key
	// Filter is the condition that the rows read must satisfy in addition to the slices, or nil.
	Filter *expr.Condition
	// Keyed is true if there are slices, and if all slices have the same conditions on attributes outside the key.
	// Filter then has only these conditions.
	Keyed bool

	schema *keycond.Schema
}

// String summarises the plan: "get", "query", "2 queries" or "scan".
func (p *Plan) String() string {
	switch {
	case len(p.Slices) == 0:
		return "scan"
	case len(p.Slices) > 1:
		return text.Count(len(p.Slices), "query")
	case p.schema.Table() == nil && isKey(p.schema, p.Slices[0].Clauses):
		return "get"
	}
	return "query"
}

// isKey reports whether clauses set each key attribute of s to a single value.
func isKey(s *keycond.Schema, clauses []keycond.Clause) bool {
	return len(clauses) == len(s.Partition())+len(s.Sort()) &&
		!slices.ContainsFunc(clauses, func(c keycond.Clause) bool { return c.Op != ast.Equal })
}

// A group is one of several alternatives in a WHERE. A row belongs to it if it satisfies all its conditions: one on
// the partition key, one on the sort key, and others.
type group struct {
	partition ast.Node
	sort      ast.Node // nil: the whole partition
	rest      []ast.Node
}

// Plan returns how to read the rows of a table or index. schema is its key, which has one partition key attribute and
// at most one sort key attribute. The error is an [*Error] or a [*keycond.Error]. Source:
// DG/ql-reference.select.html.
func (s *Statement) Plan(schema *keycond.Schema) (*Plan, error) {
	p := &Plan{schema: schema, Filter: s.Where}
	var groups []group
	ok := s.Where != nil
	if ok {
		groups, ok = s.groups(schema)
	}
	if err := s.checkOrder(schema, ok); err != nil || !ok {
		return p, err
	}
	if len(groups) > MaxSlices {
		return nil, invalid("Too many decomposed read operations for a given query.") // local
	}
	p.Keyed = !slices.ContainsFunc(groups, func(g group) bool { return !slices.Equal(g.rest, groups[0].rest) })
	if p.Keyed {
		p.Filter = conjunction(groups[0].rest)
	}
	for _, g := range groups {
		key := []ast.Node{g.partition}
		if g.sort != nil {
			key = append(key, g.sort)
		}
		slice, err := keycond.Compile(schema, conjunction(key))
		if err != nil {
			return nil, err
		}
		if err := p.add(slice); err != nil {
			return nil, err
		}
	}
	return p, p.order(s.Order)
}

// conjunction joins nodes by AND. It returns nil if there are none.
func conjunction(nodes []ast.Node) *expr.Condition {
	var root ast.Node
	for _, n := range nodes {
		if root == nil {
			root = n
		} else {
			root = &ast.And{L: root, R: n}
		}
	}
	if root == nil {
		return nil
	}
	return expr.NewCondition(root)
}

// groups returns the alternatives of the WHERE. It returns false if one of them does not set the partition key to a
// single value, as the SELECT then needs a scan.
func (s *Statement) groups(schema *keycond.Schema) (groups []group, ok bool) {
	for _, nodes := range alternatives(expr.Node(s.Where), schema) {
		var g group
		for _, n := range nodes {
			switch on := keyOf(n); {
			case on == schema.Partition()[0].Name && isEquality(n):
				if g.partition != nil {
					return nil, false // two values: no row has both
				}
				g.partition = n
			case len(schema.Sort()) == 0 || on != schema.Sort()[0].Name:
				g.rest = append(g.rest, n)
			case g.sort == nil:
				g.sort = n
			default:
				if both := between(g.sort, n); both != nil {
					g.sort = both
				} else {
					g.rest = append(g.rest, n)
				}
			}
		}
		if g.partition == nil {
			return nil, false
		}
		groups = append(groups, g)
	}
	return groups, true
}

func isEquality(n ast.Node) bool {
	c, ok := n.(*ast.Compare)
	return ok && c.Op == ast.Equal
}

// between joins two sort key conditions, one with >= and one with <=, into a BETWEEN. For other conditions it returns
// nil.
func between(a, b ast.Node) ast.Node {
	out := new(ast.Between)
	for _, n := range []ast.Node{a, b} {
		c, ok := n.(*ast.Compare)
		if !ok {
			return nil
		}
		x, v, op := oriented(c)
		switch out.X = x; op {
		case ast.GreaterOrEqual:
			out.Lo = v
		case ast.LessOrEqual:
			out.Hi = v
		}
	}
	if out.Lo == nil || out.Hi == nil {
		return nil
	}
	if n, ok := attr.Compare(out.Lo.(*ast.ValueOperand).Value, out.Hi.(*ast.ValueOperand).Value); !ok || n > 0 {
		return nil // an error in a BETWEEN
	}
	return out
}

// oriented returns the parts of a comparison. If the left operand is a value, it exchanges the operands.
func oriented(c *ast.Compare) (l, r ast.Operand, op ast.Op) {
	if _, ok := c.L.(*ast.ValueOperand); ok {
		return c.R, c.L, ast.Mirror(c.Op)
	}
	return c.L, c.R, c.Op
}

// keyOf returns the attribute that n compares with values, if a sort key condition allows such a comparison.
// Otherwise it returns "".
func keyOf(n ast.Node) string {
	var x ast.Operand
	var values []ast.Operand
	switch n := n.(type) {
	case *ast.Compare:
		l, r, op := oriented(n)
		if x, values = l, []ast.Operand{r}; op == ast.NotEqual {
			return ""
		}
	case *ast.Between:
		x, values = n.X, []ast.Operand{n.Lo, n.Hi}
	case *ast.In:
		x, values = n.X, n.List
	case *ast.Call:
		if n.Func != ast.BeginsWith {
			return ""
		}
		x, values = n.Args[0], n.Args[1:]
	}
	path, ok := x.(*ast.PathOperand)
	if !ok || len(path.Path) != 1 {
		return ""
	}
	for _, v := range values {
		if _, ok := v.(*ast.ValueOperand); !ok {
			return ""
		}
	}
	return path.Path[0].Name
}

// alternatives splits a condition into lists of conditions. The condition holds if, for at least one list, all
// conditions of the list hold. alternatives splits only OR and IN on key attributes, and returns at most
// maxAlternatives lists.
func alternatives(n ast.Node, schema *keycond.Schema) (all [][]ast.Node) {
	switch n := n.(type) {
	case *ast.Or:
		if aboutKey(n, schema) {
			all = slices.Concat(alternatives(n.L, schema), alternatives(n.R, schema))
		}
	case *ast.And:
		right := alternatives(n.R, schema)
		for _, l := range alternatives(n.L, schema) {
			for _, r := range right {
				if len(all) < maxAlternatives {
					all = append(all, slices.Concat(l, r))
				}
			}
		}
	case *ast.In:
		if schema.Has(keyOf(n)) {
			for _, v := range n.List {
				all = append(all, []ast.Node{&ast.Compare{Op: ast.Equal, L: n.X, R: v}})
			}
		}
	}
	if all == nil {
		return [][]ast.Node{{n}}
	}
	return all[:min(len(all), maxAlternatives)]
}

// maxAlternatives is one more than MaxSlices. If a statement has this many alternatives, it needs too many slices.
const maxAlternatives = MaxSlices + 1

// aboutKey reports whether a condition is about a key attribute. For AND and OR, it is enough that one of the joined
// conditions is.
func aboutKey(n ast.Node, schema *keycond.Schema) bool {
	switch n := n.(type) {
	case *ast.Or:
		return aboutKey(n.L, schema) || aboutKey(n.R, schema)
	case *ast.And:
		return aboutKey(n.L, schema) || aboutKey(n.R, schema)
	}
	return schema.Has(keyOf(n))
}

// add adds a slice to the plan. If one of two slices contains the other, add keeps only the larger one. If two slices
// overlap in another way, some rows would be read twice, so add returns an error.
func (p *Plan) add(slice *keycond.Slice) error {
	for i, other := range p.Slices {
		if !bytes.Equal(slice.Partition, other.Partition) || !overlap(slice.Range, other.Range) {
			continue
		}
		switch {
		case contains(other, slice):
			return nil
		case contains(slice, other):
			p.Slices = slices.Delete(p.Slices, i, i+1)
			return p.add(slice)
		}
		// conformance whereOverlap
		return invalid("Overlapping conditions with range keys are not supported in where clause")
	}
	p.Slices = append(p.Slices, slice)
	return nil
}

// contains reports whether slice a contains slice b of the same partition. It finds two cases: a is the whole
// partition, or both have the same range.
func contains(a, b *keycond.Slice) bool {
	return len(a.Clauses) == 1 || bytes.Equal(a.Range.Lo, b.Range.Lo) && bytes.Equal(a.Range.Hi, b.Range.Hi)
}

func overlap(a, b store.Range) bool {
	below := func(lo, hi []byte) bool { return hi == nil || bytes.Compare(lo, hi) < 0 }
	return below(a.Lo, b.Hi) && below(b.Lo, a.Hi)
}

// checkOrder returns an error if the SELECT cannot read the rows in the order of its ORDER BY. Source of the texts:
// local.
func (s *Statement) checkOrder(schema *keycond.Schema, keyed bool) error {
	for _, o := range s.Order {
		switch {
		case s.Where == nil:
			return invalid("Must have WHERE clause in the statement when using ORDER BY clause.")
		case !schema.Has(o.Name):
			return invalid("Variable reference %s in ORDER BY clause must be part of the primary key", o.Name)
		case !keyed:
			return invalid(
				"Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.",
			)
		}
	}
	return nil
}

// order sorts the slices for ORDER BY. It sorts the slices of different partitions by partition key or, without ORDER
// BY, leaves them in the order of the WHERE. It sorts slices of the same partition by sort key.
func (p *Plan) order(orders []Order) error {
	var partitions *Order
	for i, o := range orders {
		if o.Name == p.schema.Partition()[0].Name {
			partitions = &orders[i]
		} else {
			p.Reverse = o.Desc
		}
	}
	rank := map[string]int{}
	for _, slice := range p.Slices {
		if _, ok := rank[string(slice.Partition)]; !ok {
			rank[string(slice.Partition)] = len(rank)
		}
	}
	if len(rank) > 1 && orders != nil && partitions == nil {
		return invalid("Must have hash key in ORDER BY clause when more than one hash key " +
			"condition specified in WHERE clause.") // local
	}
	sign := map[bool]int{false: 1, true: -1} // of an order that is descending or not
	slices.SortStableFunc(p.Slices, func(a, b *keycond.Slice) int {
		switch {
		case bytes.Equal(a.Partition, b.Partition):
			return sign[p.Reverse] * bytes.Compare(a.Range.Lo, b.Range.Lo)
		case partitions == nil:
			return rank[string(a.Partition)] - rank[string(b.Partition)]
		}
		n, _ := attr.Compare(a.Clauses[0].Values[0], b.Clauses[0].Values[0])
		return sign[partitions.Desc] * n
	})
	return nil
}

// Key returns the key of the only item that the WHERE can match, and the other conditions of the WHERE. It returns
// false for ok if the WHERE does not set all key attributes. The error is an [*Error].
func (s *Statement) Key(schema *keycond.Schema) (key attr.Item, rest *expr.Condition, ok bool, err error) {
	var b attr.Builder
	var others []ast.Node
	if s.Where != nil {
		for _, n := range conjuncts(nil, expr.Node(s.Where)) {
			c, isCompare := n.(*ast.Compare)
			name := keyOf(n)
			if !isCompare || c.Op != ast.Equal || !schema.Has(name) {
				others = append(others, n)
				continue
			}
			_, v, _ := oriented(c)
			if !b.Item().Get(name).IsZero() {
				return nil, nil, false, invalid("Multiple conditions on same key %s. Only single item "+
					"Update/Insert/Delete are supported", name) // local
			}
			b.Add(name, v.(*ast.ValueOperand).Value)
		}
	}
	return b.Item(), conjunction(others), b.Len() == len(schema.Partition())+len(schema.Sort()), nil
}

// conjuncts appends to dst the conditions that n joins by AND, or n itself if n is not an AND.
func conjuncts(dst []ast.Node, n ast.Node) []ast.Node {
	if and, ok := n.(*ast.And); ok {
		return conjuncts(conjuncts(dst, and.L), and.R)
	}
	return append(dst, n)
}
