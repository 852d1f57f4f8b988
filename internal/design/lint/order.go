package lint

import (
	"strings"

	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keys"
)

// compareOrders compares the order that a query wants with the order of its
// rows, if that is random or if it is not.
func compareOrders(p *rule.Pass, q *rule.Query, random bool) {
	for c := range q.Orders {
		_, timed := timeAfter(c)
		if isRandom(c) != random || !random && (!rule.Textual(c.Type) || !timed || c.Single()) {
			continue
		}
		if f := unwantedOrder(q, c, random); f != nil {
			p.Report(f)
			return
		}
	}
}

// unwantedOrder returns a finding about a query whose rows are ordered by a
// component. It returns nil if the query does not want another order.
func unwantedOrder(q *rule.Query, c rule.Component, random bool) *rule.Finding {
	s, limited, words := c.Slot, q.Report.Limit > 0, byTime().MatchString(q.Name)
	at, inSlot := timeAfter(c)
	field, typ := at.Name, ""
	if !inSlot {
		field, typ = rule.TimeField(c.Entity)
	}

	f := q.Finding("")
	f.Entity = c.Entity.Name
	in, _ := q.Compiled.(*wire.QueryInput)
	switch {
	case words, random && (q.Ordered || in.ScanIndexForward != nil):
		f.Severity = model.Warning
	case limited && (random && field != "" || !random && q.Report.Reverse):
		f.Severity = model.Note
	default:
		return nil
	}
	switch {
	case random:
		f.Say("%q %s rows of %s ordered by %s, which is random", q.Name, readsPhrase(q), f.Entity, c.Name)
	case words:
		f.Say("%q wants rows in order of time, but rows of %s are ordered by %s: %s comes after it in %s",
			q.Name, f.Entity, c.Name, field, s.Name)
	default:
		f.Say("%q %s rows of %s ordered by %s, not by time: %s comes after it in %s",
			q.Name, readsPhrase(q), f.Entity, c.Name, field, s.Name)
	}
	f.Keys = q.TwoRows(c)

	f.Advice = "add an index whose sort key begins with the time"
	switch {
	case inSlot:
		s.Propose(f, "put "+field+" before "+c.Name+": ", swappedParts(s.Template.Parts(), c.At, at.At), "")
	case field != "":
		s.Propose(f, "put the time first: ", c.With("{"+field+":"+typ+"}#{"+c.Name+"}"), "")
	default:
		f.Advice = "use an id that begins with its time, or put a time before the id"
		f.Propose("use an id that begins with its time, {"+c.Name+":ulid}, or put a time before the id",
			s.Write(c.As("ulid")))
	}
	if _, given := q.Given(c.Name); field != "" && !given && q.Entity == c.Entity {
		byTime, _ := q.View.ByFields(c.Entity, nil, []string{field}, q.Name)
		f.Proposals = append(f.Proposals, byTime)
	}
	return f
}

// readsPhrase returns the verb phrase for the rows that a query reads.
func readsPhrase(q *rule.Query) string {
	switch {
	case q.Report.Reverse && q.Report.Limit > 0:
		return "reads the last"
	case q.Report.Limit > 0:
		return "reads the first"
	case q.Report.Reverse:
		return "reads, last row first,"
	}
	return "reads"
}

// byTime matches words in the name of a pattern that asks for rows in order of
// time.
var byTime = text.Pattern(`(?i)\b(newest|latest|recent|recently|lately|oldest|chronological(ly)?|` +
	`by (date|time|day)|in order of time|timeline|feed|last (\d+|few|two|three|five|ten|day|week|hour|month)s?)\b`)

var randomText = text.Pattern(
	`^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-f]{16,}|[0-9A-Za-z_-]{21,22})$`,
)

// isRandom reports whether the values of a component are random.
func isRandom(c rule.Component) bool {
	if c.AllWritten(func(id string) bool { return len(id) == 36 && id[14] == '7' }) {
		return c.Type.Name == "hex" // UUIDs of version 7 begin with their time
	}
	return c.Type.Name == "uuid" || c.Type.Name == "hex" ||
		rule.Textual(c.Type) && c.AllWritten(randomText().MatchString)
}

// timeAfter returns the first time that comes after a component in its slot.
func timeAfter(c rule.Component) (rule.Component, bool) {
	for _, o := range c.Components() {
		if o.At > c.At && model.Moment(o.Type) {
			return o, true
		}
	}
	return rule.Component{}, false
}

// swappedParts returns the template with two components exchanged. A word
// before the first component that is its name moves with it, unless all keys
// begin with it: C#USER#{user}#{at} becomes C#{at}#USER#{user}.
func swappedParts(parts []keys.Part, i, j int) string {
	if i > 0 && j == i+2 && parts[i-1].Name == "" {
		before, between := parts[i-1].Literal, parts[i+1].Literal
		bare := strings.TrimRight(before, rule.Delimiters)
		head := bare[:strings.LastIndexAny(bare, rule.Delimiters)+1]
		if head != "" && strings.EqualFold(bare[len(head):], parts[i].Name) {
			parts[i-1].Literal, parts[i+1].Literal = head, between+before[len(head):]
		}
	}
	parts[i], parts[j] = parts[j], parts[i]
	return rule.Source(parts)
}
