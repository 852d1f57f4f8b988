package lint

import (
	"context"
	"errors"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/keycond"
	"github.com/sortkey/sortkey/internal/wire"
)

// A query is an access pattern with the rows it reads.
type query struct {
	p       *model.Pattern
	v       *view // nil if the model does not have its table
	op      string
	request wire.Request     // nil for a pattern that does not compile
	failed  *compile.Error   // why there is no request
	report  *explain.Report  // nil if the pattern was not run
	clauses []keycond.Clause // of its key condition, even if that is not a single range
	// entities are the entities of the rows in the range.
	entities []*model.Entity
}

// Limits on the rows and pages read for one pattern.
const (
	maxRows  = 1000
	maxPages = 100
)

// runPatterns runs the patterns whose rows the rules examine: all queries, and
// scans with a filter.
func (l *linter) runPatterns() error {
	target := explain.InProcess(l.w.DB)
	for _, p := range l.m.Patterns {
		if err := context.Cause(l.ctx); err != nil {
			return err
		}
		q := &query{p: p, op: p.Operation}
		l.queries = append(l.queries, q)
		var err error
		q.request, err = compile.Pattern(l.m, p)
		if err != nil {
			q.failed, _ = errors.AsType[*compile.Error](err)
		}
		q.v = l.viewOf(p)
		if err != nil || q.v == nil || q.op == "GetItem" || q.op == "Scan" && p.Filter == "" {
			continue
		}
		q.clauses, _ = explain.Clauses(q.request)
		o := explain.Options{Pages: maxPages, Items: maxRows, Classify: l.m.EntityName}
		if p.Limit > 0 {
			o.Pages = 1
		}
		q.report, err = explain.Run(l.ctx, target, explain.Question{Input: q.request}, o)
		if err != nil {
			if cause := context.Cause(l.ctx); cause != nil {
				return cause
			}
			q.report = nil // package check reports the failure
			continue
		}
		for _, s := range q.report.Entities {
			if e := l.m.Entity(s.Entity); e != nil && s.Examined > 0 {
				q.entities = append(q.entities, e)
			}
		}
	}
	return nil
}

// viewOf returns the view that a pattern reads.
func (l *linter) viewOf(p *model.Pattern) *view {
	var table, index string
	if p.Table != nil {
		table = p.Table.Name
	}
	if p.Index != nil {
		index = p.Index.Name
	}
	for _, v := range l.views {
		if v.t.Name == table && v.indexName() == index {
			return v
		}
	}
	return nil
}

// rangeClause returns the condition on the sort key that is not an equality, or
// nil.
func (q *query) rangeClause() *keycond.Clause {
	if q.v == nil || q.report == nil || q.report.Refused != nil {
		return nil
	}
	for i, c := range q.clauses {
		if c.Op == ast.Equal || c.Values[0].Kind() != attr.String {
			continue
		}
		for _, a := range q.v.sort {
			if a.Name == c.Attribute.Name {
				return &q.clauses[i]
			}
		}
	}
	return nil
}

// key returns the key attributes that the query fixes by equality.
func (q *query) key() attr.Item {
	var b attr.Builder
	for _, c := range q.clauses {
		if c.Op == ast.Equal {
			b.Add(c.Attribute.Name, c.Values[0])
		}
	}
	return b.Item()
}

// in fills in the position, pattern, entity, table and index of a finding.
func (q *query) in(f model.Finding) model.Finding {
	f.Pos, f.Pattern = q.p.Pos, q.p.Name
	if q.p.Entity != nil {
		f.Entity = q.p.Entity.Name
	}
	if q.v != nil {
		f = q.v.in(f)
	}
	return f
}

// given returns the condition of a pattern on a field.
func (q *query) given(field string) (model.Condition, bool) {
	for _, c := range q.p.Where {
		if c.Field == field {
			return c, true
		}
	}
	return model.Condition{}, false
}

// next returns the first component of a sort key that the query does not fix,
// as a slot of the entity and the index of a part. The query's rows are ordered
// by it. It reports false if there is no such component.
func (q *query) next(l *linter, e *model.Entity) (*slot, int, bool) {
	if q.v == nil {
		return nil, 0, false
	}
	for _, a := range q.v.sort {
		prefix, whole := "", false
		for _, c := range q.clauses {
			if c.Attribute.Name != a.Name {
				continue
			}
			switch {
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
		s := l.slotOf(e, a.Name)
		if s == nil {
			return nil, 0, false
		}
		at, ok := s.ends(prefix)
		if !ok {
			return nil, 0, false
		}
		if at >= 0 {
			return s, at, true
		}
		// The prefix ends in literal text, before some component.
		for i, p := range s.parts {
			if p.Name == "" {
				continue
			}
			if s.endsBefore(i, prefix) {
				return s, i, true
			}
		}
		return nil, 0, false
	}
	return nil, 0, false
}

// endsBefore reports whether a key prefix ends in the literal text before part
// i.
func (s *slot) endsBefore(i int, prefix string) bool {
	head := slot{e: s.e, t: s.t, parts: s.parts[:i]}
	at, ok := head.ends(prefix)
	return ok && at < 0
}

// common returns the longest common prefix of a and b.
func common(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}
