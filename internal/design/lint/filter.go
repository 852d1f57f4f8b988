package lint

import (
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/keycond"
	"github.com/sortkey/sortkey/internal/text"
)

var filterForKey = lint{Rule{
	ID: "filter-for-key", Title: "A filter that a key could serve", Severity: model.Warning,
	Help: "A filter runs after the rows are read: dropped rows are paid for, and count toward Limit and the 1 MB of a page. " +
		"If a filter drops most rows, its attribute belongs in a key.",
	Example: []string{`read: "root/photos/2026/beach.jpg" (depth 4)`, `returned: "root/photos/" (depth 2)`},
	Cure:    "Query an index that has the filter's attribute in its key. If another pattern of the model reads just these rows, query as it does.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.FilterExpression.html",
}, func(l *linter) {
	for _, q := range l.queries {
		if r := q.report; r != nil && r.Refused == nil && r.Filter != "" && r.Examined-r.Returned > 1 && r.Bytes+r.Fetched > 0 {
			l.filtered(q, float64(r.Wasted)/float64(r.Bytes+r.Fetched))
		}
	}
}}

// muchWaste is the share of dropped bytes from which a filter is a finding.
const muchWaste = 0.25

func (l *linter) filtered(q *query, waste float64) {
	if waste < muchWaste {
		return
	}
	r := q.report
	f := q.in(model.Finding{
		Message: fmt.Sprintf("%q reads %s and returns %s: the filter drops %s of the bytes read", q.p.Name, text.Count(r.Examined, "row"), text.Thousands(r.Returned), text.Percent(waste)),
	})
	if q.p.Expect.Waste != nil && waste <= *q.p.Expect.Waste {
		f.Severity = model.Note
	}
	for _, returned := range []bool{false, true} {
		for _, row := range r.Rows {
			if row.Returned == returned {
				f.Keys = append(
					f.Keys, map[bool]string{false: "read: ", true: "returned: "}[returned]+q.v.keyOf(row.Key),
				)
				break
			}
		}
	}
	if o := l.equivalent(q); o != nil {
		l.propose(f, proposal{
			text:  fmt.Sprintf("query as %q does, on %s: it returns the same rows and reads only %s", o.p.Name, o.v.name(), text.Thousands(o.report.Examined)),
			edits: []edit{ask(q.p.Name, o.v.t.Name, o.v.indexName(), o.clauses)}, index: o.v.x,
		})
		return
	}
	var fixes []proposal
	f.Advice = "put the filter's attribute into the key of an index"
	_, filters := explain.Clauses(q.request)
	if i := slices.IndexFunc(filters, func(c keycond.Clause) bool { return c.Op == ast.Equal }); i >= 0 {
		name := filters[i].Attribute.Name
		// asking returns the edit that queries an index instead.
		asking := func(x *model.Index) edit {
			var clauses []keycond.Clause
			for _, a := range x.Keys() {
				for _, c := range slices.Concat(q.clauses, filters[i:i+1]) {
					if c.Attribute.Name == a.Name && c.Op == ast.Equal {
						clauses = append(clauses, c)
					}
				}
			}
			return ask(q.p.Name, q.v.t.Name, x.Name, clauses)
		}
		if x := serving(q.v, name); x != nil {
			fixes = []proposal{{text: fmt.Sprintf("query index %s, which has %s in its key", x.Name, name), edits: []edit{asking(x)}, index: x}}
		} else {
			x := &model.Index{
				Name: "By" + title(name), Projection: "ALL",
				Partition: []model.Attribute{{Name: name, Kind: filters[i].Values[0].Kind()}}, Sort: q.v.sort,
			}
			if q.op == "Query" {
				x.Partition = slices.Concat(q.v.hash, x.Partition)
			}
			for q.v.t.Index(x.Name) != nil {
				x.Name += "2"
			}
			p := proposal{
				text:  "add an index with " + name + " in its key, such as " + indexText(x),
				edits: []edit{writeIndex(q.v.t.Name, *x), asking(x)},
			}
			if q.op == "Scan" {
				p.text = "add an index with the partition key " + name + ", such as " + indexText(x)
			}
			fixes = []proposal{p}
		}
	}
	l.propose(f, fixes...)
}

// serving returns an index of the table that has an attribute in its key and
// whose partition key has otherwise only attributes of the view's partition
// key, or nil.
func serving(v *view, name string) *model.Index {
	for _, x := range v.t.Indexes {
		known := slices.ContainsFunc(x.Keys(), func(a model.Attribute) bool { return a.Name == name })
		for _, a := range x.Partition {
			known = known && (a.Name == name || slices.Contains(v.hash, a))
		}
		if known && x != v.x {
			return x
		}
	}
	return nil
}

// equivalent returns another query that returns the same rows without a filter
// and reads fewer.
func (l *linter) equivalent(q *query) *query {
	want, ok := q.returned()
	if !ok || len(want) < 2 || q.op != "Query" {
		return nil // a single row can be in another result by chance
	}
	for _, o := range l.queries {
		if o == q || o.op != "Query" || o.report == nil || o.report.Refused != nil || o.report.Filter != "" ||
			o.v.t != q.v.t || o.report.Examined >= q.report.Examined {
			continue
		}
		if got, ok := o.returned(); ok && slices.Equal(want, got) {
			return o
		}
	}
	return nil
}

// returned returns the sorted table keys of all rows that the query returns,
// and whether all are known.
func (q *query) returned() ([]string, bool) {
	table := &view{t: q.v.t, all: q.v.t.Keys()}
	var all []string
	for _, row := range q.report.Rows {
		if row.Returned {
			all = append(all, table.keyOf(row.Key))
		}
	}
	slices.Sort(all)
	return all, len(all) == q.report.Returned
}

// title capitalizes the first letter of a name.
func title(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
