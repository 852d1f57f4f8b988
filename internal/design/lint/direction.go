package lint

import (
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/keys"
)

var wrongDirection = lint{Rule{
	ID: "wrong-direction", Title: "The wrong end of a slice", Severity: model.Warning,
	Help: "A query returns rows in ascending order of the sort key unless it asks for descending order. With a limit, the direction decides which rows are returned at all: " +
		"the first ten rows of an ascending query are the ten oldest, not the ten newest. In a key with a descending type, such as {at:time:desc}, it is the other way round. " +
		"The rule applies to patterns with a limit whose name says which end they want: newest, latest, most recent, last ten, highest, largest; or oldest, earliest, lowest, smallest.",
	Example: []string{`"ORDER#2026-01-05" (returned by limit 1)`, `"ORDER#2026-02-01" (the newest)`},
	Cure:    "Ask for the other direction: order: desc in the model, ScanIndexForward: false in the request.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.html (ScanIndexForward)",
}, func(l *linter) {
	for _, q := range l.queries {
		l.direction(q)
	}
}}

// The words for the ends of an order. A period, as in last 7 days, is not an
// end.
var (
	lastInTime   = regexp.MustCompile(`(?i)\b(newest|latest|most recent|last (one|\d+|few|two|three|five|ten))\b`)
	firstInTime  = regexp.MustCompile(`(?i)\b(oldest|earliest)\b`)
	lastNumbers  = regexp.MustCompile(`(?i)\b(highest|largest|biggest|greatest|top \d+)\b`)
	firstNumbers = regexp.MustCompile(`(?i)\b(lowest|smallest)\b`)
	period       = regexp.MustCompile(
		`(?i)\blast (one|\d+|few|two|three|five|ten) (second|minute|hour|day|week|month|year)s?\b`,
	)
)

// end returns which end of an order a pattern's name asks for, and its word:
// 1 for the last rows, -1 for the first, or 0. Counted says that the order is
// one of numbers.
func end(name string, counted bool) (int, string) {
	name = period.ReplaceAllString(name, "")
	last, first := lastInTime.FindString(name), firstInTime.FindString(name)
	if counted {
		if last == "" {
			last = lastNumbers.FindString(name)
		}
		if first == "" {
			first = firstNumbers.FindString(name)
		}
	}
	switch {
	case (last == "") == (first == ""):
		return 0, ""
	case last != "":
		return 1, last
	}
	return -1, first
}

// direction reports a pattern that reads the wrong end of its slice.
func (l *linter) direction(q *query) {
	w := orderingOf(q)
	if q.op != "Query" || q.report == nil || q.report.Refused != nil || q.p.Expect.Error != "" || !w.limited {
		return
	}
	entities := q.entities
	if q.p.Entity != nil {
		entities = []*model.Entity{q.p.Entity}
	}
	for _, e := range entities {
		s, at, ok := q.next(l, e)
		if !ok {
			continue
		}
		p := s.parts[at]
		if !timed(p.Type) && !numeric(p.Type) && !l.timestamps(s, p) {
			continue
		}
		wanted, word := end(q.p.Name, numeric(p.Type))
		if wanted == 0 || (wanted > 0) == (w.descending != p.Type.Desc) {
			continue
		}
		f := q.in(model.Finding{})
		f.Entity = e.Name
		read, order := "lowest", "order: desc"
		switch {
		case !numeric(p.Type) && wanted > 0:
			read = "oldest"
		case !numeric(p.Type):
			read = "newest"
		case wanted < 0:
			read = "highest"
		}
		if w.descending {
			order = "order: asc"
		}
		f.Message = fmt.Sprintf(
			"%q asks for the %s rows, but its limit keeps the %s: %s in %s is read in %s order", q.p.Name, word, read,
			p.Name, s.t.Name, directionOf(w.descending),
		)
		fix := proposal{text: "read the slice from its other end: " + order, edits: []edit{onPattern(q.p.Name, turned)}}
		f.Advice = "ask for the other direction"
		f.Keys = l.twoRows(q, e)
		if (q.report.Next != nil || q.report.Pages > 1) && q.p.Expect.Keys == nil {
			f.Severity = model.Error // there are rows that it should return
		}
		l.propose(f, fix)
		return
	}
}

// turned makes a pattern read in the other direction.
func turned(_ *model.Model, p *model.Pattern) bool {
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

func directionOf(descending bool) string {
	if descending {
		return "descending"
	}
	return "ascending"
}

// timestamps reports whether the values of a text component are timestamps in
// chronological byte order.
func (l *linter) timestamps(s *slot, p keys.Part) bool {
	if !textual(p.Type) {
		return false
	}
	all := l.timestampsOf(s, p)
	for _, one := range all {
		if unordered[one.shape.format] != "" {
			return false
		}
	}
	return len(all) > 0
}
