package lint

import (
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// Finding returns a finding about the query.
func (q *Query) Finding(format string, args ...any) *Finding {
	f := newFinding(format, args...)
	if v := q.View; v != nil {
		f.Table, f.Index = v.Table.Name, v.IndexName()
	}
	f.Pos, f.Pattern = q.Pos, q.Name
	if q.Entity != nil {
		f.Entity = q.Entity.Name
	}
	return f
}

// Ran reports whether the query was run and the service accepted it.
func (q *Query) Ran() bool { return q.Report != nil && q.Report.Refused == nil }

// Directed reports whether the request sets the direction in which it reads.
func (q *Query) Directed() bool {
	in, ok := q.Compiled.(*wire.QueryInput)
	return q.Ordered || ok && in.ScanIndexForward != nil
}

// Given returns the pattern's condition on a field, if it has one.
func (q *Query) Given(field string) (model.Condition, bool) {
	for _, c := range q.Where {
		if c.Field == field {
			return c, true
		}
	}
	return model.Condition{}, false
}

// Range returns the query's condition on a string sort key that has another operator than =, or nil.
func (q *Query) Range() *keycond.Clause {
	if q.View == nil || !q.Ran() {
		return nil
	}
	for i, c := range q.Clauses {
		if c.Op != ast.Equal && c.Values[0].Kind() == attr.String &&
			slices.Contains(keyNames(q.View.Sort), c.Attribute) {
			return &q.Clauses[i]
		}
	}
	return nil
}

// key returns the key attributes that the query compares with =, and their values.
func (q *Query) key() attr.Item {
	var b attr.Builder
	for _, c := range q.Clauses {
		if c.Op == ast.Equal {
			b.Add(c.Attribute, c.Values[0])
		}
	}
	return b.Item()
}

// Partition returns the partition that the query reads. It returns false if the query does not give a whole partition
// key, or if the dataset has no row in the partition.
func (q *Query) Partition() (dataset.Part, bool) {
	id, ok := q.View.Schema.AppendPartition(nil, q.key())
	if !ok {
		return dataset.Part{}, false
	}
	return q.View.Partition(id)
}

// Elsewhere returns " in partition " and the partition key of the item. It returns "" if this is the partition that
// the query reads with its own values.
func (q *Query) Elsewhere(it *dataset.Item) string {
	key := q.View.PartitionKey(it)
	if own, ok := q.Partition(); ok && q.View.PartitionKey(q.View.Rows[own.From].Item) == key {
		return ""
	}
	return " in partition " + key
}

// Ranges yields the rows that the query reads with its own values. If the pattern is for an entity, it then yields
// the rows that the query would read with other values, the largest slice first.
func (q *Query) Ranges(yield func(rows []dataset.Row) bool) {
	read := func(from, to int) bool {
		if n := q.Report.Limit; n > 0 && q.Report.Reverse {
			from = max(from, to-n)
		} else if n > 0 {
			to = min(to, from+n)
		}
		return yield(q.View.Rows[from:to])
	}
	if part, ok := q.Partition(); ok {
		own := store.Range{Lo: q.Report.Low.Bytes, Hi: q.Report.High.Bytes}
		if !read(q.View.Range(part, own)) {
			return
		}
	}
	if q.Entity == nil {
		return // the pattern gives the partition key itself, so there are no other values
	}
	for _, s := range q.Reads().Slices {
		if !read(s.From, s.To) {
			return
		}
	}
}

// Reads returns what the query reads for all values that it can be given. If the context is done, the result is
// empty.
func (q *Query) Reads() *load.Reads { return q.readsOf(q.Pattern) }

// Together returns the sum of what the requests of the pattern read. If the context is done, the result is empty.
func (q *Query) Together() *load.Reads {
	return q.readsOf(q.study.Model.Pattern(q.Name))
}

// readsOf returns what p reads for all values that it can be given.
func (q *Query) readsOf(p *model.Pattern) *load.Reads {
	if q.Operation != "Scan" && !q.Ran() {
		return &load.Reads{}
	}
	reads, err := load.TableOf(q.study.Dataset).Reads(q.study.ctx, p)
	if err != nil {
		return &load.Reads{}
	}
	return reads
}

// Orders yields, for each entity that the query reads, the component by which the rows are ordered. For a query that
// expects an error, it yields nothing.
func (q *Query) Orders(yield func(Component) bool) {
	if q.Operation != "Query" || !q.Ran() || q.Expect.Error != "" {
		return
	}
	entities := q.Entities
	if q.Entity != nil {
		entities = []*model.Entity{q.Entity}
	}
	for _, e := range entities {
		if c, ok := q.Next(e); ok && !yield(c) {
			return
		}
	}
}

// Next returns the first component in the sort key of e that the query does not compare with =. The query reads the
// rows of e in the order of this component. Next returns false if there is none.
func (q *Query) Next(e *model.Entity) (Component, bool) {
	if q.View == nil {
		return Component{}, false
	}

	for _, a := range q.View.Sort {
		prefix, whole := "", false
		for _, c := range q.Clauses {
			switch {
			case c.Attribute != a.Name:
			case c.Op == ast.Equal:
				whole = true
			case c.Op == ast.OpBeginsWith && c.Values[0].Kind() == attr.String:
				prefix = string(c.Values[0].Raw())
			case c.Op == ast.OpBetween && c.Values[0].Kind() == attr.String && c.Values[1].Kind() == attr.String:
				prefix = common(string(c.Values[0].Raw()), string(c.Values[1].Raw()))
			}
		}
		if whole {
			continue
		}

		s := q.study.Slot(e, a.Name)
		if s == nil {
			return Component{}, false
		}
		c, _, ok := s.After(prefix)
		return c, ok && c.Name != ""
	}
	return Component{}, false
}

// common returns the longest common prefix of a and b.
func common(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// NeededBy returns a pattern that needs the entity's rows in the order of the component, or nil. A pattern needs the
// order if it asks for a range of the component, or sets the order of its rows. If strict is true, a pattern with a
// limit needs the order too.
func (c Component) NeededBy(strict bool) *Query {
	for _, q := range c.study.Queries {
		if q.Entity == c.Entity && q.View != nil && q.View == c.SortView() && q.needs(c, strict) {
			return q
		}
	}
	return nil
}

func (q *Query) needs(c Component, strict bool) bool {
	if given, ok := q.Given(c.Name); ok {
		return given.Op != ast.Equal && given.Op != ast.OpBeginsWith
	}
	if !q.Directed() && (q.Limit == 0 || !strict) {
		return false
	}
	next, ok := q.Next(c.Entity)
	return ok && next.Slot == c.Slot && next.At == c.At
}

// Reaches reports whether rows of the entity can be in the partition that the query reads.
func (q *Query) Reaches(e *model.Entity) bool {
	for _, c := range q.Clauses {
		t := e.Attribute(c.Attribute)
		switch {
		case c.Op != ast.Equal || !slices.Contains(keyNames(q.View.Hash), c.Attribute):
		case t == nil:
			return false
		case t.Template == nil:
			if !attr.Equal(c.Values[0], t.Const) {
				return false
			}
		default:
			if _, ok := t.Template.Match(model.TextOf(c.Values[0])); !ok {
				return false
			}
		}
	}
	return q.View.WrittenBy(e)
}
