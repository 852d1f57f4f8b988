package lint

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
)

var filterForKey = Rule{
	ID: "filter-for-key", Title: "A filter that a key could serve", Severity: model.Warning,
	Help: "A filter runs after the rows are read: dropped rows are paid for, and count toward the limit and " +
		"the 1 MB of a page. If it drops most rows, its attribute belongs in a key. With a limit, a page of " +
		"ten can return two rows, or none, although more that match come later: read on from " +
		"LastEvaluatedKey until enough rows have come.",

	Query: func(p *Pass, q *Query) {
		checkDropped(p, q)
		checkLimit(p, q)
	},
}

// muchWaste is the fraction of the bytes read that a filter must drop to be reported.
const muchWaste = 0.25

// checkDropped reports a filter that drops much of what the query reads. If the loads for other values are known, it
// reports the filter only if it drops much at the median, at the 95th percentile or in the worst case. The finding
// shows the request with the pattern's own values if the filter drops much there. Otherwise, it shows the first of
// these three cases in which the filter does.
func checkDropped(p *Pass, q *Query) {
	if !q.Ran() || q.Report.Filter == "" || onlyLive(q) {
		return
	}
	much := func(o load.Reading) bool { return o.Examined-o.Rows >= 2 && o.Waste >= muchWaste }
	r, where, keys := q.Report, "", []string(nil)
	at := load.Reading{Rows: r.Returned, Examined: r.Examined, Waste: r.Waste()}
	if s := q.Reads().Spread; s != nil {
		all := []load.Reading{s.P50, s.P95, s.Worst}
		i := slices.IndexFunc(all, much)
		if i < 0 {
			return
		}
		if !much(at) {
			at, where, keys = all[i], " in partition "+all[i].Key.Text(), q.View.Shown(all[i].Item)
		}
	} else if !much(at) {
		return
	}

	f := q.Finding("%q reads %s%s and returns %s: the filter drops %s of the bytes read", q.Name,
		text.Count(at.Examined, "row"), where, text.Thousands(at.Rows), text.Percent(at.Waste))
	for _, row := range r.Rows[:min(len(r.Rows), 2)] {
		if where == "" {
			keys = append(keys, q.View.KeyOf(row.Key))
		}
	}
	f.Keys = keys
	if q.Expect.Waste != nil && at.Waste <= *q.Expect.Waste {
		f.Severity = model.Note
	}
	f.Advice = "put the filter's attribute into the key of an index"
	_, filters := explain.Clauses(q.Compiled)
	if q.Entity != nil && len(filters) == 1 && filters[0].Op == ast.Equal {
		proposeKey(f, q, filters[0])
	}
	p.Report(f)
}

// checkLimit reports a query whose filter leaves fewer rows in a page than the limit allows, although more pages
// follow.
func checkLimit(p *Pass, q *Query) {
	if !q.Ran() || q.Report.Filter == "" || q.Report.Limit == 0 {
		return
	}
	r, limit := q.Report, q.Report.Limit
	returned, where, keys := r.Returned, "", []string(nil)
	if s := q.Reads().Spread; s != nil && (r.Examined < limit || r.Returned == limit || r.Last == nil) {
		at := slices.IndexFunc(s.Readings, func(o load.Reading) bool {
			return o.Pages > 1 && o.Examined > limit && o.Rows < limit // a Reading counts the rows of all pages
		})
		if at < 0 {
			return
		}
		o := &s.Readings[at]
		returned, where, keys = o.Rows, " in partition "+o.Key.Text(), q.View.Shown(o.Item)
	} else if r.Examined < limit || r.Returned == limit || r.Last == nil {
		return
	}
	f := q.Finding("%q has limit %d, and its first page returns at most %s%s: a limit counts rows before the filter",
		q.Name, limit, text.Count(returned, "row"), where)
	f.Keys = keys
	f.Advice = "read on from LastEvaluatedKey until enough rows have come, or put the filter's attribute into a key"
	p.Report(f)
}

// onlyLive reports whether a filter only drops items whose time to live has passed. The service deletes such items
// within days, so there are few of them, even if the sample has many.
func onlyLive(q *Query) bool {
	ttl := q.View.Table.TTL
	_, filters := explain.Clauses(q.Compiled)
	return ttl != "" && len(filters) == 1 && filters[0].Attribute == ttl && !strings.Contains(q.Report.Filter, " AND ")
}

// proposeKey proposes to query an index whose key contains the filter's attribute. Such a query needs no filter.
func proposeKey(f *Finding, q *Query, filter keycond.Clause) {
	v, name := q.View, filter.Attribute
	through := func(index string) Edit {
		return onPattern(q.Name, func(m *model.Model, p *model.Pattern) bool {
			given := model.Condition{Field: name, Op: ast.Equal, Args: []string{model.TextOf(filter.Values[0])}}
			p.Operation, p.Filter, p.Where = "Query", "", append(p.Where, given)
			p.Index = m.Table(v.Table.Name).Index(index)
			return p.Entity.Field(name) != nil
		})
	}
	if x := servingIndex(v, name); x != nil {
		f.Propose("query index "+x.Name+", which has "+name+" in its key", through(x.Name))
		return
	}

	x := model.Index{
		Name: newIndexName(v.Table, name), Projection: "ALL",
		Partition: []model.Attribute{{Name: name, Kind: filter.Values[0].Kind()}}, Sort: v.Sort,
	}
	if q.Operation == "Query" {
		x.Partition = slices.Concat(v.Hash, x.Partition)
	}
	f.Propose("add an index with "+name+" in its key, such as "+indexText(&x), func(m *model.Model) bool {
		return writeIndex(v.Table.Name, x)(m) && through(x.Name)(m)
	})
}

// servingIndex returns an index whose key has the named attribute, or nil. The partition key of the index must not
// contain any attribute but this one and those in the view's partition key.
func servingIndex(v *View, name string) *model.Index {
	for _, x := range v.Table.Indexes {
		known := slices.Contains(keyNames(x.Keys()), name)
		for _, a := range x.Partition {
			known = known && (a.Name == name || slices.Contains(v.Hash, a))
		}
		if known && x != v.Index {
			return x
		}
	}
	return nil
}
