package lint

import (
	"slices"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
)

var countedRows = rule.Rule{
	ID: "counted-rows", Title: "Rows that are read only to be counted", Severity: model.Note,
	Help: "A query with Select: COUNT returns a number, and reads all rows of its range, at the price of a " +
		"query that returns them. There is no count of a partition to ask for. The rule goes by Select: COUNT " +
		"and by the name of the pattern (count of, number of, how many). It is a warning from ten units in one " +
		"partition at the declared scale.",
	Example: []string{`"POST#p1": 3,100 likes, read for their number`},
	Cure: "Keep the number in an attribute of the parent, and add to it in the transaction that puts or " +
		"deletes a row. If it may lag behind, let a stream add it up.",
	Source: guide + "Query.Other.html (counting the items in the results); " + guide + "bp-gsi-aggregation.html",

	Query: checkCountedRows,
}

// aboutCount matches the names of patterns that count, and namesOfCounts are the last words of the names of
// what has been counted already.
var (
	aboutCount = text.Pattern(`(?i)^(the )?(counts?( of)?|counting|(total )?number of)\b|\bhow many\b|` +
		`^\w+ count( (of|in|for)\b.*)?$`)

	namesOfCounts = []string{
		"count", "counts", "counter", "total", "totals", "stat", "stats", "statistic", "statistics", "sum", "summary",
		"aggregate", "metric", "metrics", "tally", "histogram",
	}
)

// fewRows are so few that to count them costs little more than to read one.
const fewRows = 10

func checkCountedRows(p *rule.Pass, q *rule.Query) {
	if q.Operation != "Query" || !q.Ran() || q.Expect.Error != "" {
		return
	}
	in, _ := q.Compiled.(*wire.QueryInput)
	selected := in != nil && in.Select != nil && *in.Select == "COUNT"
	counted := func(name string) bool { return hasWord(name, namesOfCounts...) }
	if !selected && (!aboutCount().MatchString(q.Name) || slices.ContainsFunc(q.Project, counted) ||
		q.Entity != nil && counted(q.Entity.Name)) {
		return
	}

	all := q.Slices()
	if len(all) == 0 {
		return
	}
	worst := all[0] // the largest comes first
	rows, bytes := float64(worst.Rows)*worst.Growth, worst.DeclaredBytes()
	units := table.ReadUnits(int(bytes), q.Consistent)
	if rows < fewRows || units < 1 {
		return
	}

	it := q.View.Rows[worst.Part.From].Item
	f := q.Finding("%q reads all rows to count them: %s in partition %s, for %s read units", q.Name,
		text.Count(int(rows), "row"), q.View.PartitionKey(it), text.Figure(units))
	for _, r := range q.View.In(worst.Part) {
		if (q.Entity == nil || r.Item.Entity == q.Entity) && len(f.Keys) < 2 {
			f.Keys = append(f.Keys, q.View.Shown(r.Item)...)
		}
	}
	if units >= unitsThatCount {
		f.Severity = model.Warning
	}
	f.Advice = "keep the number in an attribute of the parent, and change it in the transaction that writes a row"
	p.Report(f)
}
