package lint

import (
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

var lostLastDay = rule.Rule{
	ID: "lost-last-day", Title: "A range that ends before its last day", Severity: model.Warning,
	Help: "BETWEEN ORDER#2026-01-01 AND ORDER#2026-01-31 does not find the orders of January 31: their keys " +
		"go on after the day, so they sort after the bound. The same is true for a month or a year as a bound. " +
		"It is an error if the data has such rows. A bound that is the first day of the next month, the next day " +
		"or the same day a week later is taken for an end that is left out on purpose.",
	Example: []string{`"ORDER#2026-01-30T18:00:00Z"`, `"ORDER#2026-01-31" (the bound)`, `"ORDER#2026-01-31T09:00:00Z"`},
	Cure: "End the range with the character after what follows the day, ORDER#2026-01-31U for times with a " +
		"T. Or write the pattern with conditions on fields, whose ranges include the last day.",
	Source: guide + "Query.KeyConditionExpressions.html (strings are compared byte by byte)",

	Query: checkLostLastDay,
}

// aboutEnd matches what patterns say that leave the end of a range out on purpose.
var aboutEnd = text.Pattern(`(?i)\b(before|until|till|up to|exclusive|excluding|without the last)\b`)

// periods are the layouts of the periods that a bound can name, the shortest first.
var periods = []struct {
	name, layout string
	next         func(time.Time) time.Time
}{
	{"day", time.DateOnly, func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }},
	{"month", "2006-01", func(t time.Time) time.Time { return t.AddDate(0, 1, 0) }},
	{"year", "2006", func(t time.Time) time.Time { return t.AddDate(1, 0, 0) }},
}

func checkLostLastDay(p *rule.Pass, q *rule.Query) {
	c := q.Range()
	if c == nil || c.Op != ast.OpBetween && c.Op != ast.LessOrEqual || q.Expect.Error != "" ||
		aboutEnd().MatchString(q.Name+" "+q.About) {
		return
	}
	low, bound := "", string(c.Values[len(c.Values)-1].Raw())
	if c.Op == ast.OpBetween {
		low = string(c.Values[0].Raw())
	}

	for _, period := range periods {
		at := len(bound) - len(period.layout)
		if at < 0 || at > 0 && isDigit(bound[at-1]) {
			continue
		}
		end, err := time.Parse(period.layout, bound[at:])
		if err != nil {
			continue
		}
		first, err := time.Parse(period.layout, strings.TrimPrefix(low, bound[:at]))
		if err == nil && endsOnPurpose(first, end, period.next) {
			return
		}
		if follows := followsBound(p, q, c.Attribute, bound, period.layout); follows != "" {
			reportLostEnd(p, q, bound, low, period.name, follows)
		}
		return
	}
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// endsOnPurpose reports whether the end of a range is probably left out on purpose: it is the next period, the
// same day a week later, or the first one of a month or year, as is the beginning.
func endsOnPurpose(first, end time.Time, next func(time.Time) time.Time) bool {
	return end.Equal(next(first)) || end.Equal(first.AddDate(0, 0, 7)) ||
		end.After(first) && (end.Day() == 1 && next(end).Day() != 1 && first.Day() == 1 ||
			end.Day() == first.Day() && end.Day() == 1 && end.Month() == first.Month())
}

// followsBound returns the first byte after a bound in the keys of an entity whose component there is a
// time with more than a period, or is followed by something, or "".
func followsBound(p *rule.Pass, q *rule.Query, attribute, bound, layout string) string {
	for _, s := range p.SlotsOf(q.View.Table, attribute) {
		c, _, ok := s.After(bound)
		if !ok || c.Name == "" || !inPartition(q, s.Entity) {
			continue
		}
		shape := "2006-01-02T"
		switch {
		case rule.Plain(c.Type):
			words := c.Written()
			if len(words) == 0 || !isoBegin().MatchString(words[0].Text) {
				continue
			}
			shape = words[0].Text
		case !model.Moment(c.Type), c.Type.Desc, strings.HasPrefix(c.Type.Name, "epoch"):
			continue
		case rule.Precision(c.Type) == 0:
			shape = map[string]string{"date": time.DateOnly, "month": "2006-01", "year": "2006"}[c.Type.Name]
		}

		if len(shape) > len(layout) {
			return shape[len(layout) : len(layout)+1]
		}
		if c.At+1 < len(s.Parts) && len(shape) == len(layout) && s.Parts[c.At+1].Literal != "" {
			return s.Parts[c.At+1].Literal[:1]
		}
	}
	return ""
}

// inPartition reports whether rows of an entity can be in the partition that a query reads.
func inPartition(q *rule.Query, e *model.Entity) bool {
	for _, a := range q.View.Hash {
		t := e.Attribute(a.Name)
		for _, c := range q.Clauses {
			if c.Attribute != a.Name || c.Op != ast.Equal {
				continue
			}
			if t == nil {
				return false
			}
			if t.Template == nil {
				if !attr.Equal(c.Values[0], t.Const) {
					return false
				}
				continue
			}
			if _, ok := t.Template.Match(model.TextOf(c.Values[0])); !ok {
				return false
			}
		}
	}
	return q.View.WrittenBy(e)
}

var isoBegin = text.Pattern(`^\d{4}-\d{2}(-\d{2})?([T ]|$)`)

func reportLostEnd(p *rule.Pass, q *rule.Query, bound, low, period, follows string) {
	name := q.Range().Attribute
	missed, last, first := keysBeyond(q, name, bound, bound)
	f := q.Finding("the range ends at %s, but the keys of that %s go on after it", rule.Quoted(bound), period)
	f.Keys = append(q.View.Shown(last), q.SuchAs(name, bound+follows))
	if missed > 0 {
		f.Severity = model.Error
		f.Say(": %s %s missing", text.Count(missed, "row"), text.Agree(missed, "is", "are"))
		f.Keys = q.View.Shown(last, first)
	} else {
		f.Say(": its rows are missing")
	}

	next, _ := keys.Successor(bound + follows)
	f.Advise("end the range with %s", rule.Quoted(next))
	bounds := []string{next}
	if q.Range().Op == ast.OpBetween {
		bounds = []string{low, next}
	}
	f.Propose("end the range with "+rule.Quoted(next)+", which is above all keys of that "+period,
		q.Ranged(q.Range().Op, bounds...))
	p.Report(f)
}
