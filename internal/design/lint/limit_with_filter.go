package lint

import (
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var limitWithFilter = rule.Rule{
	ID: "limit-with-filter", Title: "A limit that counts rows which a filter drops", Severity: model.Warning,
	Help: "Limit is the number of rows that a page reads, not of those that it returns: the filter comes after it. " +
		"A page of ten can return two rows, or none, although more that match come later.",
	Example: []string{`limit 10 reads "MSG#01" to "MSG#10"`, `the filter keeps "MSG#03" and "MSG#07"`},
	Cure: "Read on from LastEvaluatedKey until enough rows have come, and pay for all that were read. Or put the " +
		"filter's attribute into a key, so that each row read is one returned.",
	Source: guide + "Query.FilterExpression.html",

	Query: checkLimitWithFilter,
}

func checkLimitWithFilter(p *rule.Pass, q *rule.Query) {
	if !q.Ran() || q.Report.Filter == "" || q.Report.Limit == 0 {
		return
	}

	limit := q.Report.Limit
	if r := q.Report; r.Examined == limit && r.Returned < limit && r.Last != nil {
		f := q.Finding(
			"%q has limit %d and returns %s: a limit counts rows before the filter, which dropped %s of them",
			q.Name, limit, text.Count(r.Returned, "row"), text.Thousands(r.Examined-r.Returned),
		)
		f.Advice = limitAdvice
		p.Report(f)
		return
	}

	s := q.Spread()
	if s == nil {
		return
	}
	for i := range s.Readings { // of one page
		if r := &s.Readings[i]; r.Examined == limit && r.Rows < limit {
			f := q.Finding(
				"%q has limit %d, and its first page returns at most %s in partition %s: "+
					"a limit counts rows before the filter",
				q.Name, limit, text.Count(r.Rows, "row"), r.Key.Text(),
			)
			f.Keys, f.Advice = q.View.Shown(r.Item), limitAdvice
			p.Report(f)
			return
		}
	}
}

const limitAdvice = "read on from LastEvaluatedKey until enough rows have come, " +
	"or put the filter's attribute into a key"
