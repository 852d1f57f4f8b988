package lint

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

var wrongDirection = rule.Rule{
	ID: "wrong-direction", Title: "The wrong end of a slice", Severity: model.Warning,
	Help: "A query returns rows in ascending order of the sort key unless it asks for descending order. With a " +
		"limit, the direction decides which rows are returned at all: the first ten rows of an ascending query are " +
		"the ten oldest, not the ten newest. In a key with a descending type, such as {at:time:desc}, it is the " +
		"other way round. The rule applies to patterns with a limit whose name says which end they want: newest, " +
		"latest, most recent, last ten, highest, largest; or oldest, earliest, lowest, smallest.",
	Example: []string{`"ORDER#2026-01-05" (returned by limit 1)`, `"ORDER#2026-02-01" (the newest)`},
	Cure:    "Ask for the other direction: order: desc in the model, ScanIndexForward: false in the request.",
	Source:  guide + "Query.html (ScanIndexForward)",

	Query: checkWrongDirection,
}

// The words for the ends of an order. A period, as in last 7 days, is not an
// end.
var (
	lastInTime   = text.Pattern(`(?i)\b(newest|latest|most recent|last (one|\d+|few|two|three|five|ten))\b`)
	firstInTime  = text.Pattern(`(?i)\b(oldest|earliest)\b`)
	lastNumbers  = text.Pattern(`(?i)\b(highest|largest|biggest|greatest|top \d+)\b`)
	firstNumbers = text.Pattern(`(?i)\b(lowest|smallest)\b`)
	lastPeriod   = text.Pattern(
		`(?i)\blast (one|\d+|few|two|three|five|ten) (second|minute|hour|day|week|month|year)s?\b`,
	)
)

// endOfOrder returns the word in a pattern's name for an end of an order, or
// "", and whether it is the last one. Counted says that the order is one of
// numbers.
func endOfOrder(name string, counted bool) (word string, isLast bool) {
	name = lastPeriod().ReplaceAllString(name, "")
	last, first := lastInTime().FindString(name), firstInTime().FindString(name)
	if counted {
		last = cmp.Or(last, lastNumbers().FindString(name))
		first = cmp.Or(first, firstNumbers().FindString(name))
	}
	if last != "" && first != "" {
		return "", false
	}
	return last + first, last != ""
}

// oppositeEnd returns a word for the other end.
func oppositeEnd(isLast, counted bool) string {
	switch {
	case counted && isLast:
		return "lowest"
	case counted:
		return "highest"
	case isLast:
		return "oldest"
	}
	return "newest"
}

// checkWrongDirection reports a pattern that reads the wrong end of its slice.
func checkWrongDirection(p *rule.Pass, q *rule.Query) {
	for c := range q.Orders {
		counted := rule.Numeric(c.Type)
		if q.Report.Limit == 0 || !counted && !rule.Timed(c.Type) && !areTimestamps(c) {
			continue
		}
		word, isLast := endOfOrder(q.Name, counted)
		if word == "" || isLast == (q.Report.Reverse != c.Type.Desc) || counted && belowZero(q, c) {
			continue
		}
		f := q.Finding("%q asks for the %s rows, but its limit keeps the %s: %s in %s is read in %s order",
			q.Name, word, oppositeEnd(isLast, counted), c, c.Slot, rule.Direction(q.Report.Reverse))
		f.Entity = c.Entity.Name
		f.Keys = q.TwoRows(c)
		if (q.Report.Next != nil || q.Report.Pages > 1) && q.Expect.Keys == nil {
			f.Severity = model.Error // there are rows that it should return
		}
		f.Advice = "ask for the other direction"
		order := direction(!q.Report.Reverse)
		f.Propose("read the slice from its other end: order: "+order, rule.OnPattern(q.Name, turnAround))
		p.Report(f)
		return
	}
}

// outflows matches words for amounts that are often negative numbers.
var outflows = text.Pattern(
	`(?i)\b(redemptions?|redeemed|withdrawals?|debits?|loss(es)?|refunds?|expenses?|deductions?)\b`,
)

// belowZero reports whether the numbers that a query reads are negative, all of
// them or, for redemptions and the like, one: the largest is the lowest number.
func belowZero(q *rule.Query, c rule.Component) bool {
	n, negative := 0, 0
	for _, row := range q.Report.Rows {
		if row.Entity != c.Entity.Name {
			continue
		}
		n++
		values, _ := c.Template.Match(model.TextOf(row.Key.Get(c.Slot.Name)))
		if strings.HasPrefix(values[c.Name], "-") {
			negative++
		}
	}
	return negative > 0 && (negative == n || outflows().MatchString(q.Name))
}

// turnAround makes a pattern read in the other direction.
func turnAround(_ *model.Model, p *model.Pattern) bool {
	if p.Request == nil {
		p.Ordered, p.Descending = true, !p.Descending
		return true
	}
	var request map[string]json.RawMessage
	if json.Unmarshal(p.Request, &request) != nil {
		return false
	}
	backward := string(request["ScanIndexForward"]) == "false"
	request["ScanIndexForward"], _ = json.Marshal(backward)
	out, err := json.Marshal(request)
	p.Request = out
	return err == nil
}

// areTimestamps reports whether the values of a text component are timestamps in
// chronological byte order.
func areTimestamps(c rule.Component) bool {
	all := c.Timestamps()
	return rule.Textual(c.Type) && len(all) > 0 &&
		!slices.ContainsFunc(all, func(t rule.Timestamp) bool { return t.Shape.Disorder != "" })
}
