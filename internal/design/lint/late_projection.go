package lint

import (
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
)

var lateProjection = rule.Rule{
	ID: "late-projection", Title: "A projection that saves no read units", Severity: model.Note,
	Help: "A query reads whole items, and drops the attributes that its projection does not name only then: " +
		"a list of titles of articles of 50 KB costs as much as the articles. It is a warning from ten units " +
		"that an index with these attributes alone would save in one partition. The rule applies if it saves " +
		"half of the units and a kilobyte per row.",
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
	if q.Operation != "Query" || !q.Ran() || q.Entity == nil || len(q.Project) == 0 || q.Expect.Error != "" ||
		q.View.Index != nil && (q.View.Index.Projection != "ALL" || allProject(p, q.View)) {
		return
	}
	all := q.Slices()
	if len(all) == 0 || all[0].Rows == 0 {
		return
	}

	narrow := narrowIndex(q)
	each := rowBytesOf(p, q.View, q.Entity, narrow)
	worst := all[0] // the largest comes first
	bytes, rows := worst.DeclaredBytes(), float64(worst.Rows)*worst.Growth
	now, then := table.ReadUnits(int(bytes), q.Consistent), table.ReadUnits(int(rows*each), q.Consistent)
	if bytes/rows-each < savedBytes || now < 2*then || now-then < 2 {
		return
	}

	it := q.View.Rows[worst.Part.From].Item
	f := q.Finding("%q returns only %s, but reads whole items: in partition %s, %s of %s on average for %s read units",
		q.Name, q.Project, q.View.PartitionKey(it), text.Count(int(rows), "row"), text.Size(bytes/rows),
		text.Figure(now))
	f.Keys = q.View.Shown(it)
	if now-then >= unitsThatCount {
		f.Severity = model.Warning
	}

	f.Advice = "keep what is large in an item of its own"
	if !q.Consistent && q.View.Table.Index(narrow.Name) == nil {
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

// narrowIndex returns an index with the keys that a query reads and only the attributes that it needs.
func narrowIndex(q *rule.Query) model.Index {
	v := q.View
	x := model.Index{Partition: v.Hash, Sort: v.Sort, Projection: "KEYS_ONLY"}
	keys := slices.Concat(rule.Names(v.Keys), rule.Names(v.Table.Keys()))
	for _, t := range q.Entity.Attributes {
		named := slices.ContainsFunc(q.Project, func(path string) bool {
			name, _, _ := strings.Cut(path, ".")
			name, _, _ = strings.Cut(name, "[")
			return name == t.Name || rule.Natural(name, t.Template)
		})
		if (named || strings.Contains(q.Filter, t.Name)) && !slices.Contains(keys, t.Name) {
			x.Projection, x.Include = "INCLUDE", append(x.Include, t.Name)
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
