package lint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

var lateProjection = rule.Rule{
	ID: "late-projection", Title: "A projection that saves no read units", Severity: model.Note,
	Help: "A query, a get and a scan read whole items, and drop the attributes that their projection does not name " +
		"only then: a list of titles of articles of 50 KB costs as much as the articles. It is a warning from ten " +
		"units that an index with these attributes alone would save in one partition. The rule applies if it " +
		"saves half of the units and a kilobyte per row.",
	Example: []string{`"SHELF#s1": 32 rows of 50 KB, read for their titles`},
	Cure: "Add an index with only the attributes that are listed. Or keep what is large in an item of its " +
		"own, beside a small one for lists, or in S3.",
	Source: guide + "bp-use-s3-too.html; " +
		guide + "Query.Other.html (a projection does not change the capacity units)",

	Query: checkLateProjection,
}

// unitsThatCount are so many read units saved in a partition that a note becomes a warning.
const unitsThatCount = 10

func checkLateProjection(p *rule.Pass, q *rule.Query) {
	names := projected(q)
	if len(names) == 0 || !q.Answered() || q.View == nil || q.Expect.Error != "" ||
		q.View.Index != nil && (q.View.Index.Projection != "ALL" || allProject(p, q.View)) {
		return
	}
	switch q.Operation {
	case "GetItem":
		reportLateGet(p, q, names)
	case "Scan":
		reportLateScan(p, q, names)
	case "Query":
		reportLateQuery(p, q, names)
	}
}

// projected returns the attributes that a request returns, or none if it returns all.
func projected(q *rule.Query) (names []string) {
	var projection *string
	var placeholders map[string]string
	switch in := q.Compiled.(type) {
	case *wire.QueryInput:
		projection, placeholders = in.ProjectionExpression, in.ExpressionAttributeNames
	case *wire.GetItemInput:
		projection, placeholders = in.ProjectionExpression, in.ExpressionAttributeNames
	case *wire.ScanInput:
		projection, placeholders = in.ProjectionExpression, in.ExpressionAttributeNames
	}
	if projection == nil {
		return nil
	}
	for path := range strings.SplitSeq(*projection, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(path), ".")
		name, _, _ = strings.Cut(name, "[")
		names = append(names, cmp.Or(placeholders[name], name))
	}
	return names
}

// late reports whether reading whole items takes as many bytes and units more as the rule is about.
func late(rows, bytes, narrow float64, consistent bool) (now, then float64, ok bool) {
	now, then = table.ReadUnits(int(bytes), consistent), table.ReadUnits(int(narrow), consistent)
	return now, then, rows > 0 && (bytes-narrow)/rows >= savedBytes && now >= 2*then && now-then >= 2
}

// reportLateGet reports a get whose item is much larger than what it returns of it.
func reportLateGet(p *rule.Pass, q *rule.Query, names []string) {
	e := q.Entity
	if in, ok := q.Compiled.(*wire.GetItemInput); ok && e == nil {
		id, _ := q.View.Schema.AppendPartition(nil, in.Key)
		position, _ := q.View.Schema.AppendSort(nil, in.Key)
		if part, ok := q.View.Partition(id); ok {
			if at, found := q.View.Find(part, position); found {
				e = q.View.Rows[at].Item.Entity
			}
		}
	}
	if e == nil {
		return
	}

	whole := rowBytesOf(p, q.View, e, model.Index{Projection: "ALL"})
	now, then, ok := late(1, whole, rowBytesOf(p, q.View, e, narrowIndex(q, e, names)), q.Consistent)
	if !ok {
		return
	}
	f := q.Finding("%q returns only %s, but reads the whole item: %s on average for %s read units", q.Name, names,
		text.Size(whole), text.Figure(now))
	f.Keys = q.View.Example(e)
	sayLate(f, now-then)
	p.Report(f)
}

// reportLateScan reports a scan of items that are much larger than what it returns of them.
func reportLateScan(p *rule.Pass, q *rule.Query, names []string) {
	rows, bytes, narrow := 0.0, 0.0, 0.0
	indexes := map[*model.Entity]*model.RowSizes{}
	for i := range q.View.Rows {
		row := &q.View.Rows[i]
		e := row.Item.Entity
		if indexes[e] == nil {
			x := narrowIndex(q, e, names)
			indexes[e] = q.View.Table.RowSizes(&x)
		}
		size, _ := indexes[e].Of(row.Item.Attributes)
		each := p.World.Represents(row.Item)
		rows, bytes, narrow = rows+each, bytes+each*float64(row.Size()), narrow+each*float64(size)
	}
	if in, ok := q.Compiled.(*wire.ScanInput); ok && in.Limit != nil && rows > float64(*in.Limit) {
		share := float64(*in.Limit) / rows
		rows, bytes, narrow = rows*share, bytes*share, narrow*share
	}
	now, then, ok := late(rows, bytes, narrow, q.Consistent)
	if !ok {
		return
	}
	f := q.Finding("%q returns only %s, but reads whole items: %s of %s on average for %s read units", q.Name, names,
		text.Count(int(rows), "row"), text.Size(bytes/rows), text.Figure(now))
	f.Keys = q.View.Shown(q.View.Rows[0].Item)
	sayLate(f, now-then)
	p.Report(f)
}

func sayLate(f *rule.Finding, saved float64) {
	if saved >= unitsThatCount {
		f.Severity = model.Warning
	}
	f.Advice = "keep what is large in an item of its own"
}

func reportLateQuery(p *rule.Pass, q *rule.Query, names []string) {
	e := q.Entity
	if e == nil && len(q.Entities) == 1 {
		e = q.Entities[0]
	}
	all := q.Slices()
	if e == nil || !q.Ran() || len(all) == 0 || all[0].Rows == 0 {
		return
	}

	narrow := narrowIndex(q, e, names)
	worst := all[0] // the largest comes first
	bytes, rows := worst.DeclaredBytes(), float64(worst.Rows)*worst.Growth
	now, then, ok := late(rows, bytes, rows*rowBytesOf(p, q.View, e, narrow), q.Consistent)
	if !ok {
		return
	}

	it := q.View.Rows[worst.Part.From].Item
	f := q.Finding("%q returns only %s, but reads whole items: in partition %s, %s of %s on average for %s read units",
		q.Name, names, q.View.PartitionKey(it), text.Count(int(rows), "row"), text.Size(bytes/rows),
		text.Figure(now))
	f.Keys = q.View.Shown(it)
	sayLate(f, now-then)
	if !q.Consistent && q.View.Table.Index(narrow.Name) == nil && q.Request == nil {
		declared := strings.TrimSuffix(rule.IndexText(&narrow), "}") + ", projection: " + projectionText(&narrow) + "}"
		f.Propose("add an index "+declared+", and query it for "+text.Quote(q.Name),
			rule.WriteIndex(q.View.Table.Name, narrow), rule.ThroughIndex(q.Name, narrow.Name))
	}
	p.Report(f)
}

// allProject reports whether all patterns that read an index name what they return, so that the
// index itself can be smaller.
func allProject(p *rule.Pass, v *rule.View) bool {
	return !slices.ContainsFunc(p.Queries, func(q *rule.Query) bool { return q.View == v && len(q.Project) == 0 })
}

// narrowIndex returns an index with the keys that a query reads and only the attributes that it needs of an entity,
// or of items of none.
func narrowIndex(q *rule.Query, e *model.Entity, names []string) model.Index {
	v := q.View
	x := model.Index{Partition: v.Hash, Sort: v.Sort, Projection: "KEYS_ONLY"}
	keys := slices.Concat(rule.Names(v.Keys), rule.Names(v.Table.Keys()))
	include := func(name string, natural bool) {
		used := slices.Contains(names, name) || natural || strings.Contains(q.Filter, name)
		if used && !slices.Contains(keys, name) {
			x.Projection, x.Include = "INCLUDE", append(x.Include, name)
		}
	}
	if e == nil {
		for _, name := range names {
			include(name, true)
		}
	} else {
		for _, t := range e.Attributes {
			natural := func(name string) bool { return rule.Natural(name, t.Template) }
			include(t.Name, slices.ContainsFunc(names, natural))
		}
	}

	short := "Keys"
	if len(x.Include) > 0 {
		short = x.Include[0]
	}
	x.Name = "Short" + strings.TrimPrefix(rule.IndexBy(v.Table, short), "By")
	return x
}

// rowBytesOf returns the size of a row of an entity on average, as it would be in an index.
func rowBytesOf(p *rule.Pass, v *rule.View, e *model.Entity, x model.Index) float64 {
	sizes, sum, n := v.Table.RowSizes(&x), 0, 0
	for _, it := range p.Items(e) {
		if size, ok := sizes.Of(attr.Item(it.Attributes)); ok {
			sum, n = sum+size, n+1
		}
	}
	return float64(sum) / float64(max(n, 1))
}
