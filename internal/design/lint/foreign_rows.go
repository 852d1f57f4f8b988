package lint

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
)

var foreignRows = Rule{
	ID: "foreign-rows", Title: "A pattern reads rows that nobody meant", Severity: model.Warning,
	Help: "A query reads all rows in its range, whatever their entity and however their values go on. " +
		"begins_with USER#1 also reads USER#10, and root/photos reads root/photos-old/. A query for orders " +
		"ORDER#7 also reads their lines ORDER#7#ITEM#1. These rows are paid for, and a limit counts them. If " +
		"they are meant, say so: expect: {entities: [Order, Item]}.",

	Query: func(p *Pass, q *Query) {
		checkPrefix(p, q)
		checkEntities(p, q)
	},
}

// checkPrefix reports a query with begins_with whose prefix ends inside a value and so matches more values than
// intended: "USER#1" also matches "USER#10".
func checkPrefix(p *Pass, q *Query) {
	c := q.Range()
	if c == nil || c.Op != ast.OpBeginsWith {
		return
	}
	name, prefix := c.Attribute, string(c.Values[0].Raw())
	marks := delimitersIn(p, q.View.Table, name)
	if prefix == "" || strings.ContainsRune(marks, rune(prefix[len(prefix)-1])) {
		return
	}
	for rows := range q.Ranges {
		if own, siblings := split(rows, name, prefix, marks); own != nil && len(siblings) > 0 {
			reportSiblings(p, q, name, prefix, own, siblings)
			return
		}
	}
}

// A sibling is an item that a prefix matches only because the prefix ends inside a value.
type sibling struct {
	prefix string
	item   *dataset.Item
}

// split divides the rows whose keys begin with a prefix. own is the item that the author means by the prefix: its key
// ends after the prefix, or continues with a delimiter. siblings has the other items, but only one for each different
// value.
func split(rows []dataset.Row, name, prefix, marks string) (own *dataset.Item, siblings []sibling) {
	for _, r := range rows {
		rest, ok := strings.CutPrefix(valueText(r.Item, name), prefix)
		switch {
		case !ok:
		case rest == "" || strings.ContainsRune(marks, rune(rest[0])):
			if own == nil || rest != "" && valueText(own, name) == prefix {
				own = r.Item
			}
		default:
			if at := strings.IndexAny(rest, marks); at >= 0 {
				rest = rest[:at+1]
			}
			if n := len(siblings); n == 0 || siblings[n-1].prefix != prefix+rest { // rows are in order
				siblings = append(siblings, sibling{prefix + rest, r.Item})
			}
		}
	}
	return own, siblings
}

// reportSiblings reports a prefix that the author means for one item, but that also matches its siblings.
func reportSiblings(p *Pass, q *Query, name, prefix string, own *dataset.Item, siblings []sibling) {
	var prefixes []string
	for _, s := range siblings {
		prefixes = append(prefixes, s.prefix)
	}
	first, closed := siblings[0].item, valueText(own, name)
	whole := closed == prefix
	f := q.Finding("the prefix %s also reads siblings: %s", quoted(prefix), prefixes)
	f.Keys = q.View.Shown(own, first)
	rows := q.Expect.Rows != nil && *q.Expect.Rows == q.Report.Returned && q.Report.Returned > 1
	if expected := q.Expect.Keys != nil || whole && rows; expected && q.Elsewhere(own) == "" {
		f.Severity = model.Note
	}
	if whole {
		f.Advise("compare the whole key: %s = %s", text.Name(name), quoted(prefix))
	} else {
		f.Advise("end the prefix with the delimiter: begins_with(%s, %s)",
			text.Name(name), quoted(closed[:len(prefix)+1]))
	}
	p.Report(f)
}

// delimitersIn returns the delimiters in the templates of a key attribute of a table. A path is delimited by slashes.
func delimitersIn(p *Pass, t *model.Table, name string) string {
	marks := ""
	for _, s := range p.SlotsOf(t, name) {
		for i, part := range s.Parts {
			if d := delimiterAfter(part.Literal); part.Name == "" && i > 0 && d != "" {
				marks += d[:1]
			}
			if part.Type.Name == "path" {
				marks += "/"
			}
		}
	}
	return marks
}

// checkEntities reports a query for rows of one entity that also reads rows of other entities. It examines
// [Query.Ranges], in which the range of the query's own values comes first, and reports the first range with such
// rows.
func checkEntities(p *Pass, q *Query) {
	if q.Entity == nil || q.Operation != "Query" || !q.Ran() {
		return
	}
	expected := map[*model.Entity]bool{nil: true, q.Entity: true}
	for _, e := range p.Entities {
		expected[e] = expected[e] || expectsEntity(p, q, e)
	}
	of := func(it *dataset.Item) *model.Entity {
		if it.Entity == nil { // a raw item belongs to no entity, but its keys can have the form of an entity's keys
			return p.Model.Classify(q.View.Table, it.Attributes)
		}
		return it.Entity
	}
	foreign := func(r dataset.Row) bool { return !expected[of(r.Item)] }
	for rows := range q.Ranges {
		if slices.ContainsFunc(rows, foreign) {
			reportForeign(p, q, rows, of, expected)
			return
		}
	}
}

// reportForeign reports rows of entities that a query does not expect.
func reportForeign(
	p *Pass, q *Query, rows []dataset.Row, of func(*dataset.Item) *model.Entity,
	expected map[*model.Entity]bool,
) {
	items := map[*model.Entity][]*dataset.Item{}
	for _, r := range rows {
		items[of(r.Item)] = append(items[of(r.Item)], r.Item)
	}
	var counts []string
	names, shown := []string{q.Entity.Name}, items[q.Entity][:min(1, len(items[q.Entity]))]
	for _, e := range p.Entities {
		if n := len(items[e]); n > 0 && !expected[e] {
			names, counts = append(names, e.Name), append(counts, text.Count(n, "row")+" of "+e.Name)
			shown = append(slices.Clip(shown), items[e][0])
		}
	}

	f := q.Finding("%q asks for rows of %s and reads %s%s", q.Name, q.Entity.Name, counts, q.Elsewhere(rows[0].Item))
	f.Keys = q.View.Shown(shown[:min(2, len(shown))]...)
	f.Advise("if the pattern should read both, add entities: [%s] to expect; or give each entity its own first word "+
		"in the sort key, such as %s#", strings.Join(names, ", "), strings.ToUpper(names[1]))
	p.Report(f)
}

// expectsEntity reports whether the model says that q reads rows of e.
func expectsEntity(p *Pass, q *Query, e *model.Entity) bool {
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
