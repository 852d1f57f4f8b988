package lint

import (
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
)

var largeRead = rule.Rule{
	ID: "large-read", Title: "A query without a limit that reads megabytes", Severity: model.Warning,
	Help: "A query returns at most 1 MB per page, so one without a limit takes several requests one after the other, " +
		"and each reads 128 or 256 units. The rule looks at all partitions at the declared scale, and at queries " +
		"that read more than 2 MB in one of them. It is a note if the pattern expects several pages or as many units.",
	Example: []string{`"TENANT#big": 40,000 rows, 12 MB, 12 pages`},
	Cure: "Read one page with a limit, and the next from where it ended. Narrow the range, for example to a month. " +
		"Or project only what is read, through an index.",
	Source: guide + "Query.Pagination.html",

	Query: checkLargeRead,
}

// largeBytes are so many that a query without a limit is a finding.
const largeBytes = 2 << 20

func checkLargeRead(p *rule.Pass, q *rule.Query) {
	if q.Operation != "Query" || !q.Ran() || q.Report.Limit > 0 || q.Expect.Error != "" {
		return
	}

	all := q.Slices()
	if len(all) == 0 {
		return
	}
	worst := all[0] // the largest comes first
	bytes := worst.DeclaredBytes()
	if bytes < largeBytes {
		return
	}

	over := 0
	for _, s := range all[1:] {
		if s.DeclaredBytes() >= largeBytes {
			over++
		}
	}

	it := q.View.Rows[worst.From].Item
	f := q.Finding("%q has no limit, and in partition %s it reads %s rows with %s at the declared scale, "+
		"for %s read units%s", q.Name, q.View.PartitionKey(it), text.Thousands(int(float64(worst.Rows)*worst.Growth)),
		text.Size(bytes), text.Figure(table.ReadUnits(int(bytes), q.Consistent)), rule.Others(over, "so large"))
	f.Keys = q.View.Shown(it, q.View.Rows[worst.To-1].Item)
	if pages := q.Expect.Pages; pages != nil && *pages > 1 ||
		q.Expect.Units != nil && *q.Expect.Units >= table.ReadUnits(largeBytes, q.Consistent) {
		f.Severity = model.Note
	}

	f.Advice = "add a limit and read page by page, or narrow the range"
	p.Report(f)
}
