package lint

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
)

var foreignRows = rule.Rule{
	ID: "foreign-rows", Title: "A pattern reads rows that nobody meant", Severity: model.Warning,
	Help: "A query reads all rows in its range, whatever their entity and however their values go on. " +
		"begins_with USER#1 also reads USER#10, and root/photos reads root/photos-old/. A query for orders " +
		"ORDER#7 also reads their lines ORDER#7#ITEM#1. These rows are paid for, and a limit counts them. If " +
		"they are meant, say so: expect: {entities: [Order, Item]}.",

	Query: func(p *rule.Pass, q *rule.Query) {
		checkPrefix(p, q)
		checkEntities(p, q)
	},
}

// checkPrefix reports a query with begins_with whose prefix ends inside a value, so that other values begin with
// it too.
func checkPrefix(p *rule.Pass, q *rule.Query) {
	c := q.Range()
	if c == nil || c.Op != ast.OpBeginsWith {
		return
	}
	name, prefix := c.Attribute, string(c.Values[0].Raw())
	part, ok := q.Partition()
	if prefix == "" || !ok {
		return
	}
	marks := delimitersIn(p, q.View.Table, name)
	if strings.ContainsRune(marks, rune(prefix[len(prefix)-1])) {
		return
	}

	// Rows are the prefix's own, which end there or go on with a delimiter, or of its siblings.
	var own, sibling *dataset.Item
	var siblings []string
	for _, r := range q.View.In(part) {
		rest, ok := strings.CutPrefix(rule.Value(r.Item, name), prefix)
		switch {
		case !ok:
		case rest == "" || strings.ContainsRune(marks, rune(rest[0])):
			if own == nil || rest != "" && rule.Value(own, name) == prefix {
				own = r.Item
			}
		default:
			if at := strings.IndexAny(rest, marks); at >= 0 {
				rest = rest[:at+1]
			}
			if sibling == nil {
				sibling = r.Item
			}
			if !slices.Contains(siblings, prefix+rest) {
				siblings = append(siblings, prefix+rest)
			}
		}
	}
	if own == nil {
		return
	}

	closed := rule.Value(own, name)
	whole := closed == prefix
	f := q.Finding("the prefix %s also reads siblings: %s", rule.Quoted(prefix), siblings)
	f.Keys = q.View.Shown(own, sibling)
	switch {
	case len(siblings) > 0:
		expected := q.Expect.Rows != nil && *q.Expect.Rows == q.Report.Returned && q.Report.Returned > 1
		if q.Expects(sibling) || whole && expected {
			f.Severity = model.Note
		}
	default:
		return
	}
	if whole {
		f.Advise("compare the whole key: %s = %s", text.Name(name), rule.Quoted(prefix))
	} else {
		f.Advise("end the prefix with the delimiter: begins_with(%s, %s)",
			text.Name(name), rule.Quoted(closed[:len(prefix)+1]))
	}
	p.Report(f)
}

// delimitersIn returns the delimiters in a key attribute of a table. That of a path is a slash.
func delimitersIn(p *rule.Pass, t *model.Table, name string) string {
	marks := ""
	for _, s := range p.SlotsOf(t, name) {
		for i, part := range s.Parts {
			if d := rule.DelimiterAfter(part.Literal); part.Name == "" && i > 0 && d != "" {
				marks += d[:1]
			}
			if part.Type.Name == "path" {
				marks += "/"
			}
		}
	}
	return marks
}

// checkEntities reports a query for rows of one entity that reads those of others too.
func checkEntities(p *rule.Pass, q *rule.Query) {
	if q.Entity == nil || q.Operation != "Query" || !q.Ran() {
		return
	}
	named, rows := []string{q.Entity.Name}, []string(nil)
	for _, s := range q.Report.Entities {
		e := p.Model.Entity(s.Entity)
		if e != nil && e != q.Entity && s.Examined > 0 && !expectsEntity(p, q, e) {
			named = append(named, e.Name)
			rows = append(rows, text.Count(s.Examined, "row")+" of "+e.Name)
		}
	}
	if len(rows) == 0 {
		return
	}

	f := q.Finding("%q asks for rows of %s and reads %s", q.Name, q.Entity.Name, rows)
	for _, name := range named[:2] {
		for _, r := range q.Report.Rows {
			if r.Entity == name {
				f.Keys = append(f.Keys, q.View.KeyOf(r.Key))
				break
			}
		}
	}
	f.Advise("if the pattern should read both, add entities: [%s] to expect; or give each entity its own first word "+
		"in the sort key, such as %s#", strings.Join(named, ", "), strings.ToUpper(named[1]))
	p.Report(f)
}

// expectsEntity reports whether the pattern declares that it reads rows of an entity.
func expectsEntity(p *rule.Pass, q *rule.Query, e *model.Entity) bool {
	return slices.Contains(q.Expect.Entities, e.Name) ||
		slices.ContainsFunc(q.Expect.Keys, func(key model.Key) bool {
			var b attr.Builder
			for i, a := range q.View.Table.Keys() {
				if i < len(key) {
					b.Add(a.Name, key[i])
				}
			}
			return p.Model.Classify(q.View.Table, b.Item()) == e
		})
}
