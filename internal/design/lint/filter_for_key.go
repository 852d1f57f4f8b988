package lint

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

var filterForKey = rule.Rule{
	ID: "filter-for-key", Title: "A filter that a key could serve", Severity: model.Warning,
	Help: "A filter runs after the rows are read: dropped rows are paid for, and count toward the limit and the 1 MB of " +
		"a page. If it drops most rows, its attribute belongs in a key. With a limit, a page of ten can return two rows, " +
		"or none, although more that match come later: read on from LastEvaluatedKey until enough rows have come.",

	Query: func(p *rule.Pass, q *rule.Query) {
		checkDropped(p, q)
		checkLimit(p, q)
	},
}

// muchWaste is the share of dropped bytes from which a filter is a finding.
const muchWaste = 0.25

func checkDropped(p *rule.Pass, q *rule.Query) {
	if !q.Ran() || q.Report.Filter == "" || onlyLive(q) {
		return
	}

	r := q.Report
	here, at := r.Examined-r.Returned >= 2 && r.Waste() >= muchWaste, droppedElsewhere(q)
	if at == nil && (!here || q.Spread() != nil) {
		return
	}

	f, waste := droppedHere(q), r.Waste()
	if !here {
		waste = at.Waste
		f = q.Finding(
			"%q reads %s in partition %s and returns %s: the filter drops %s of the bytes read",
			q.Name, text.Count(at.Examined, "row"), at.Key.Text(), text.Thousands(at.Rows), text.Percent(at.Waste),
		)
		f.Keys = q.View.Shown(at.Item)
	}
	if q.Expect.Waste != nil && waste <= *q.Expect.Waste {
		f.Severity = model.Note
	}

	f.Advice = "put the filter's attribute into the key of an index"
	_, filters := explain.Clauses(q.Compiled)
	if i := slices.IndexFunc(filters, func(c keycond.Clause) bool { return c.Op == ast.Equal }); i >= 0 {
		f.Proposals = []rule.Proposal{throughKey(q, filters[i])}
	}
	p.Report(f)
}

// checkLimit reports a page that returns fewer rows than its limit because of a filter, although more follow.
func checkLimit(p *rule.Pass, q *rule.Query) {
	if !q.Ran() || q.Report.Filter == "" || q.Report.Limit == 0 {
		return
	}
	r, limit := q.Report, q.Report.Limit
	if s := q.Spread(); s != nil && !(r.Examined == limit && r.Returned < limit && r.Last != nil) {
		at := slices.IndexFunc(s.Readings, func(o load.Reading) bool {
			return o.Pages > 1 && o.Examined > limit && o.Rows < limit // over all pages
		})
		if at >= 0 {
			o := &s.Readings[at]
			f := q.Finding("%q has limit %d, and its first page returns at most %s in partition %s: a limit counts rows "+
				"before the filter", q.Name, limit, text.Count(o.Rows, "row"), o.Key.Text())
			f.Keys, f.Advice = q.View.Shown(o.Item), limitAdvice
			p.Report(f)
		}
		return
	}
	if r.Examined == limit && r.Returned < limit && r.Last != nil {
		f := q.Finding("%q has limit %d and returns %s: a limit counts rows before the filter, which dropped %s of them",
			q.Name, limit, text.Count(r.Returned, "row"), text.Thousands(r.Examined-r.Returned))
		f.Advice = limitAdvice
		p.Report(f)
	}
}

const limitAdvice = "read on from LastEvaluatedKey until enough rows have come, or put the filter's attribute into a key"

// onlyLive reports whether a filter only leaves out items whose time to live has passed. The service
// deletes them within days, so they are few beside the others, whatever the times in the model are.
func onlyLive(q *rule.Query) bool {
	ttl := q.View.Table.TTL
	_, filters := explain.Clauses(q.Compiled)
	return ttl != "" && len(filters) == 1 && filters[0].Attribute == ttl && !strings.Contains(q.Report.Filter, " AND ")
}

// droppedHere returns a finding about what the filter drops in the partition of the query's values.
func droppedHere(q *rule.Query) *rule.Finding {
	r := q.Report
	f := q.Finding("%q reads %s and returns %s: the filter drops %s of the bytes read",
		q.Name, text.Count(r.Examined, "row"), text.Thousands(r.Returned), text.Percent(r.Waste()))
	for i, what := range []string{"read: ", "returned: "} {
		at := slices.IndexFunc(r.Rows, func(row explain.Row) bool { return row.Returned == (i == 1) })
		if at >= 0 {
			f.Keys = append(f.Keys, what+q.View.KeyOf(r.Rows[at].Key))
		}
	}
	return f
}

// droppedElsewhere returns the first of the partitions at p50, p95 and worst in which the filter
// drops much, or nil.
func droppedElsewhere(q *rule.Query) *load.Reading {
	s := q.Spread()
	if s == nil {
		return nil
	}
	for _, r := range []*load.Reading{&s.P50, &s.P95, &s.Worst} {
		if r.Examined-r.Rows >= 2 && r.Waste >= muchWaste {
			return r
		}
	}
	return nil
}

// throughKey returns the proposal to query an index that has a filter's
// attribute in its key.
func throughKey(q *rule.Query, filter keycond.Clause) rule.Proposal {
	v, name := q.View, filter.Attribute
	// ask returns the edit that queries an index instead.
	ask := func(x *model.Index) rule.Edit {
		var clauses []keycond.Clause
		for _, a := range x.Keys() {
			for _, c := range append(slices.Clone(q.Clauses), filter) {
				if c.Attribute == a.Name && c.Op == ast.Equal {
					clauses = append(clauses, c)
				}
			}
		}
		return rule.Ask(q.Name, v.Table.Name, x.Name, clauses)
	}
	if x := servingIndex(v, name); x != nil {
		return rule.Proposal{
			Text: "query index " + x.Name + ", which has " + name + " in its key", Edits: []rule.Edit{ask(x)}, Index: x,
		}
	}

	x := &model.Index{
		Name: rule.IndexBy(v.Table, name), Projection: "ALL",
		Partition: []model.Attribute{{Name: name, Kind: filter.Values[0].Kind()}}, Sort: v.Sort,
	}
	how := "the partition key " + name
	if q.Operation == "Query" {
		x.Partition = slices.Concat(v.Hash, x.Partition)
		how = name + " in its key"
	}

	return rule.Proposal{
		Text:  "add an index with " + how + ", such as " + rule.IndexText(x),
		Edits: []rule.Edit{rule.WriteIndex(v.Table.Name, *x), ask(x)},
	}
}

// servingIndex returns an index of the table that has an attribute in its key and
// whose partition key has otherwise only attributes of the view's partition
// key, or nil.
func servingIndex(v *rule.View, name string) *model.Index {
	for _, x := range v.Table.Indexes {
		known := slices.Contains(rule.Names(x.Keys()), name)
		for _, a := range x.Partition {
			known = known && (a.Name == name || slices.Contains(v.Hash, a))
		}
		if known && x != v.Index {
			return x
		}
	}
	return nil
}
