package lint

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
)

var naturalOrder = Rule{
	ID: "natural-order", Title: "Bytes are in another order than people mean", Severity: model.Warning,
	Help: "Keys are ordered byte by byte: 10 before 9, -1 before -2, 1.10.0 before 1.9.0, W10 before W9, 0010 " +
		"before 007, Zoe before adam, HIGH before LOW, `New York#` before `New#`, and 10:00:00.5Z before " +
		"10:00:00Z. Seconds and milliseconds, or times of two formats or zones, do not mix. The rule " +
		"compares this order with the one that people mean. It also reports a pattern that wants rows by " +
		"time when something else orders them (a random id, a name), and one that reads the wrong end. It is " +
		"an error if rows are out of order and a pattern needs the order. Text that may be an id is a note, " +
		"or nothing, if no pattern does.",

	Component: checkValues, Whole: checkFormats, Query: checkWants,
}

// A disorder is a component of a sort key whose values sort in another order than people expect.
type disorder struct {
	Component
	sense
	a, b   Written // the first pair of values that sort in the unexpected order
	n      int     // the number of such pairs; 0 if a and b are invented examples
	needed *Query  // a pattern that needs the order, or nil
}

// checkValues reports a component of a sort key whose values sort in another order than people expect.
func checkValues(p *Pass, c Component) {
	d, ok := disorderOf(p, c)
	if !ok {
		return
	}
	f := c.Finding("%s in %s of %s is %s, and bytes are in another order: %s ",
		c.Name, c.Slot, c.View(), d.name, d.a)
	if f.Severity = d.severity(); d.n > 0 {
		f.Say("sorts before %s%s", d.b, andMore(d.n-1))
	} else {
		f.Say("would sort before %s", d.b)
	}
	if d.needed != nil {
		f.Say("; %q needs their order", d.needed.Name)
	}
	f.Keys = c.View().Shown(d.a.Item, d.b.Item)
	if f.Advice = d.cure; d.typ != "" {
		f.Advice = writing(c.Slot.Name, c.As(d.typ))
		if len(c.Parts) == 1 && d.name == number {
			f.Advice += "; or give " + c.Slot.Name + " type N"
		}
	}
	p.Report(f)
}

// severity returns how severe the disorder is. It is an error if a pattern needs the order and written values break
// it, and a warning if a pattern needs the order or people certainly expect it. In all other cases, it is a note.
func (d disorder) severity() model.Severity {
	switch {
	case d.needed != nil && d.n > 0:
		return model.Error
	case d.needed != nil || d.certain:
		return model.Warning
	}
	return model.Note
}

// disorderOf compares the byte order of a component's values with the order that people expect.
func disorderOf(p *Pass, c Component) (d disorder, ok bool) {
	if c.SortView() == nil || c.Kind != attr.String {
		return d, false
	}
	if c.Type.Name != "" && c.Type.Name != "string" && c.Type.Name != "number" && c.Type.Name != "enum" {
		return d, false // values of this type sort as expected, or are paths
	}
	words := wordsIn(p, c)
	meant, ok := senseOf(c, words)
	if !ok {
		return d, false
	}

	d = disorder{Component: c, sense: meant, needed: c.NeededBy(false)}
	if meant.name == level && d.needed == nil && readOneByOne(p, c) {
		return d, false
	}
	d.a, d.b, d.n = disordered(words, meant.compare)
	switch {
	case d.n > 0:
		return d, meant.certain || !meant.unsure || d.needed != nil
	case meant.low == "" || !meant.certain && d.needed == nil:
		return d, false
	}
	d.a, d.b = Written{Text: meant.low}, Written{Text: meant.high}
	return d, true
}

// readOneByOne reports whether a pattern compares the component with =. The rows that such a pattern returns all have
// the same value, so the order of the values does not matter.
func readOneByOne(p *Pass, c Component) bool {
	return slices.ContainsFunc(p.Queries, func(q *Query) bool {
		given, ok := q.Given(c.Name)
		return ok && given.Op == ast.Equal && q.Entity == c.Entity && q.View == c.SortView()
	})
}

// wordsIn returns the values of a component in the order of their keys. In a key, a literal can follow the component
// and affect the order, so wordsIn compares each value together with this literal.
func wordsIn(p *Pass, c Component) []Written {
	words := slices.Clone(c.Written())
	if c.Type.Name == "number" { // generated numbers can sort wrongly too
		words = nil
		for _, it := range p.Items(c.Entity) {
			words = append(words, Written{Text: it.Values.Get(c.Name), Item: it})
		}
	}
	listed := c.Type.Values
	if f := c.Entity.Field(c.Name); f != nil && len(listed) == 0 {
		listed = f.Values
	}
	for _, value := range listed {
		// Append the declared values last. If one equals the value of an item, CompactFunc then keeps the item's.
		words = append(words, Written{Text: value})
	}

	follows := ""
	if c.At+1 < len(c.Parts) {
		follows = c.Parts[c.At+1].Literal
	}
	slices.SortStableFunc(words, func(a, b Written) int { return cmp.Compare(a.Text+follows, b.Text+follows) })
	return slices.CompactFunc(words, func(a, b Written) bool { return a.Text == b.Text })
}

// checkWants compares the order that the name of a pattern asks for with the order of its rows.
func checkWants(p *Pass, q *Query) {
	w := wantOf(q.Name)
	for c := range q.Orders {
		if f := unwanted(q, c, w); f != nil {
			f.Entity = c.Entity.Name
			f.Keys = q.View.Example(c.Entity)
			p.Report(f)
			return
		}
	}
}

// unwanted returns a finding if w asks for another order than the order in which component c sorts the rows of q.
// Otherwise, it returns nil.
func unwanted(q *Query, c Component, w want) *Finding {
	limited := q.Report.Limit > 0
	timed := sortsByTime(c.Type) || plain(c.Type) && c.AllWritten(isMoment)

	// wrong says what is wrong with the order; asked is true if the pattern surely asks for another one
	wrong, asked := "", w.timed
	switch field, _ := timeField(c.Entity); {
	case isUntimed(c) && (w.timed || q.Directed() || limited && field != ""):
		wrong, asked = "which is random", w.timed || q.Directed()
	case textual(c.Type) && !timed && !c.Single() && timeAfter(c) != nil && (w.timed || limited && q.Report.Reverse):
		wrong = "not by time"
	}
	if wrong != "" {
		f := q.Finding("%q reads rows of %s ordered by %s, %s", q.Name, c.Entity.Name, c, wrong)
		if !asked {
			f.Severity = model.Note
		}
		return adviseTime(f, c)
	}

	if limited && w.ended && timed && w.last != (q.Report.Reverse != c.Type.Desc) {
		f := q.Finding("%q asks for the %s rows, but its limit keeps those at the other end: "+
			"%s in %s is read in %s order",
			q.Name, w.word, c, c.Slot, map[bool]string{true: "descending", false: "ascending"}[q.Report.Reverse])
		if (q.Report.Next != nil || q.Report.Pages > 1) && q.Expect.Keys == nil {
			f.Severity = model.Error // the limit leaves out rows that the pattern asks for
		}
		f.Advice = "read from the other end: order: " + map[bool]string{true: "asc", false: "desc"}[q.Report.Reverse]
		return f
	}
	return nil
}

// adviseTime adds the advice to order the rows by a time. This can be a later component of the slot, a field of the
// entity, or an id that begins with its time.
func adviseTime(f *Finding, c Component) *Finding {
	field, typ := timeField(c.Entity)
	switch after := timeAfter(c); {
	case after != nil:
		order := c.Components()
		i := slices.IndexFunc(order, func(o Component) bool { return o.At == c.At })
		j := slices.IndexFunc(order, func(o Component) bool { return o.At == after.At })
		order[i], order[j] = order[j], order[i]
		f.Advise("put %s before %s: %s, or add an index with that sort key", after.Name, c,
			writing(c.Slot.Name, c.Reordered(order)))
	case field != "":
		id := sourceOf(c.Parts[c.At : c.At+1])
		f.Advise("put the time first: %s", writing(c.Slot.Name, c.With("{"+field+":"+typ+"}#"+id)))
	default:
		f.Advise("use an id that begins with its time, {%s:ulid}, or put a time before the id", c)
	}
	return f
}

// timeAfter returns the first time that comes after a component in its slot, or nil.
func timeAfter(c Component) *Component {
	for _, o := range c.Components() {
		if o.At > c.At && model.Moment(o.Type) {
			return &o
		}
	}
	return nil
}

var (
	timedIDs = text.Pattern( // UUIDs of version 7, and ObjectIds from 1995 on
		`^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-7[0-9a-fA-F]{3}-.*|[3-7][0-9a-f]{23})$`,
	)
	randomIDs = text.Pattern(
		`^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-f]{16,}|[0-9A-Za-z_-]{21,22})$`,
	)
)

// isRandom reports whether an id looks random. A number does not, and ids of 21 or 22 characters have letters of both
// cases; an IBAN, for example, has only capitals.
func isRandom(id string) bool {
	oneCase := strings.ToUpper(id) == id || lower(id) == id
	return randomIDs().MatchString(id) && strings.ContainsFunc(id, unicode.IsLetter) &&
		!(oneCase && (len(id) == 21 || len(id) == 22))
}

// isUntimed reports whether the values of a component are ids whose order means nothing: they look random, and do not
// begin with their time.
func isUntimed(c Component) bool {
	written := textual(c.Type) || c.Type.Name == "uuid"
	if written && c.AllWritten(timedIDs().MatchString) {
		return false
	}
	return c.Type.Name == "uuid" || c.Type.Name == "hex" || written && c.AllWritten(isRandom)
}

// A want is the order of time that the name of a pattern asks for.
type want struct {
	word        string
	timed       bool // the name asks for rows in the order of their times
	ended, last bool // ended: the name asks for the newest or the oldest rows; last: for the newest
}

var (
	lastTimes  = text.Pattern(`(?i)\b(newest|latest|most recent|last (one|\d+|few|two|three|five|ten))\b`)
	firstTimes = text.Pattern(`(?i)\b(oldest|earliest)\b`)
	someTimes  = text.Pattern(`(?i)\b(recent|recently|timeline|lately|chronological(ly)?|by (date|time|day))\b`)
	lastPeriod = text.Pattern(
		`(?i)\blast (one|\d+|few|two|three|five|ten) (second|minute|hour|day|week|month|year)s?\b`,
	)
)

// wantOf returns the order that the name of a pattern asks for. If the name asks for both the newest and the oldest
// rows, wantOf returns the zero want.
func wantOf(name string) (w want) {
	name = lastPeriod().ReplaceAllString(name, "")
	last, first, some := lastTimes().FindString(name), firstTimes().FindString(name), someTimes().FindString(name)
	w = want{word: cmp.Or(last, first, some), last: last != "", ended: last+first != ""}
	w.timed = w.word != ""
	if last != "" && first != "" {
		return want{}
	}
	return w
}
