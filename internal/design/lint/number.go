package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/lint/rule"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

var unpaddedNumber = rule.Rule{
	ID: "unpadded-number", Title: "Numbers in text that are not padded", Severity: model.Warning,
	Help: "Text is compared byte by byte, so 10 comes before 9: the first digits decide, however many follow. Rows " +
		"with such a number in the sort key are not in numeric order, a range of numbers is not a range of keys, " +
		"and the newest version is not the last row. Text that has only numbers in the samples is one, and so is a " +
		"field whose name counts, such as version, seq, rank or level, or whose values do: 0, 1, 2. So is one behind " +
		"a word that all have, as in v9 and v10, if a pattern needs the order.",
	Example: []string{`"V#1"`, `"V#10"`, `"V#9"`},
	Cure: "Pad numbers to the width of the largest possible one: {version:int(6)} gives V#000009 and V#000010. Or " +
		"use a sort key attribute of type N.",
	Source: guide + "Query.html (strings are ordered by their UTF-8 bytes)",

	Slot: numberKind{
		one: "a number that is not padded", many: "numbers that are not padded", low: "9", high: "10",
	}.look,
	Component: checkPrefixedNumber,
}

var negativeNumber = rule.Rule{
	ID: "negative-number", Title: "Negative numbers in text", Severity: model.Warning,
	Help: "The minus sign sorts below all digits, so negative numbers come before positive ones, but among " +
		"themselves they are ordered by their digits: -1 before -2. Padding does not help.",
	Example: []string{`"TEMP#-1"`, `"TEMP#-20"`, `"TEMP#5"`},
	Cure: "Use a type that preserves the order: {degrees:signed(4)}, or {amount:decimal(6,2)} for decimals. Or use " +
		"a sort key attribute of type N.",
	Source: guide + "Query.html (strings are ordered by their UTF-8 bytes; \"-\" is 0x2D, \"0\" is 0x30)",

	Slot: numberKind{
		one: "a number that can be negative", many: "numbers that can be negative", low: "-2", high: "-1",
		negative: true,
	}.look,
}

// A numberKind is a kind of numbers in text that are out of order.
type numberKind struct {
	negative  bool
	one, many string // what they are
	low, high string // an example of two; high sorts before low
}

// look reports the numbers of this kind in the template of a sort key.
func (n numberKind) look(p *rule.Pass, s *rule.Slot) {
	if s.SortView() == nil || s.Kind != attr.String {
		return
	}
	var all []disorderedNumber
	for _, c := range s.Components() {
		if spread, ok := spreadOf(p, c); ok && spread.negative == n.negative {
			if d, ok := disorderedIn(c, spread); ok {
				if d.pattern == nil {
					d.pattern = numberWanter(p, c)
				}
				all = append(all, d)
			}
		}
	}
	if len(all) == 0 {
		return
	}

	// The worst of them is shown, and all are mended.
	worst := all[0]
	var names []string
	parts, typed := s.Template.Parts(), false
	for _, d := range all {
		if worst.pattern == nil && d.pattern != nil || worst.a == nil && d.a != nil {
			worst = d
		}
		names = append(names, d.Name)
		typed = typed || d.typed()
		parts[d.At].Type, _ = keys.ParseType(d.ordered())
		parts[d.At].Typed = true
	}
	f := s.Finding("%s in %s of %s %s %s", names, s.Name, s.View(),
		text.Agree(len(names), "is", "are"), text.Agree(len(names), n.one, n.many))
	if worst.a != nil {
		f.Say(": %s sorts before %s%s",
			worst.a.Values.Get(worst.Name), worst.b.Values.Get(worst.Name), rule.AndMore(worst.count-1))
		f.Keys = s.View().Shown(worst.a, worst.b)
	} else {
		f.Say(": %s would sort before %s", n.high, n.low)
		f.Keys = worst.Pair(rule.Written{Text: n.high}, rule.Written{Text: n.low})
	}
	switch {
	case worst.pattern != nil && worst.a != nil:
		f.Severity = model.Error
		f.Say("; %q needs numeric order", worst.pattern.Name)
	case !typed && worst.pattern == nil:
		f.Severity = model.Note
	}
	f.Advice = "pad the numbers to one width, or use a sort key attribute of type N"
	after := ", which sorts in numeric order"
	if len(parts) == 1 {
		after += "; or give " + s.Name + " type N"
	}
	s.Propose(f, "", rule.Source(parts), after)
	p.Report(f)
}

// A disorderedNumber is a component of a sort key whose numbers are out of order.
type disorderedNumber struct {
	rule.Component
	numberSpread
	a, b    *world.Item // adjacent items out of order
	count   int         // of such pairs
	pattern *rule.Query // a pattern that depends on the order
}

// typed reports whether the model declares the component a number.
func (d *disorderedNumber) typed() bool { return d.Type.Name == "number" }

// ordered returns a type whose byte order is numeric order.
func (d *disorderedNumber) ordered() string {
	width := max(d.most+2, 4)
	if d.bounded && d.most > 0 {
		width = d.most
	}
	unit := unitWidth(d.Name, d.most)
	switch {
	case unit > 0 && !d.negative && d.decimals == 0:
		width = unit
	case d.decimals > 0:
		return fmt.Sprintf("decimal(%d,%d)", width, d.decimals)
	case d.negative:
		return fmt.Sprintf("signed(%d)", width)
	}
	return fmt.Sprintf("int(%d)", width)
}

// unitWidths has the widths of units whose values are limited, by the last word
// of a name.
var unitWidths = map[string]int{
	"year": 4, "quarter": 1, "month": 2, "week": 2, "weekday": 1, "day": 2, "hour": 2, "minute": 2, "second": 2,
	"percent": 3, "dayofyear": 3, "minuteofday": 4, "secondofday": 5,
}

// The digits of seconds and milliseconds since 1970.
const (
	secondsWidth = 10
	millisWidth  = 13
)

// unitWidth returns the width of a number that is a calendar unit or a moment by
// its name, or 0. Most is the number of digits that have been seen.
func unitWidth(name string, most int) int {
	words := wordsOf(name)
	width := unitWidths[lastWord(name)]
	if at := slices.Index(words, "of"); at > 0 { // such as dayOfYear, monthOfBirth
		width = cmp.Or(unitWidths[strings.Join(words, "")], unitWidths[words[at-1]])
	}
	if hasWord(name, "epoch", "timestamp", "ts", "at", "millis", "ms", "unixtime") {
		width = secondsWidth
		if most > secondsWidth || hasWord(name, "millis", "ms", "epochms") {
			width = millisWidth
		}
	}
	if most > width {
		return 0
	}
	return width
}

// disorderedIn returns the numbers of a component if they are out of order.
func disorderedIn(c rule.Component, spread numberSpread) (d disorderedNumber, ok bool) {
	d.Component, d.numberSpread = c, spread
	for a, b := range c.Adjacent {
		x, err := strconv.ParseFloat(a.Values.Get(c.Name), 64)
		y, err2 := strconv.ParseFloat(b.Values.Get(c.Name), 64)
		if err == nil && err2 == nil && y < x {
			if d.count++; d.a == nil {
				d.a, d.b = a, b
			}
		}
	}
	d.pattern = c.NeededBy(d.typed())
	return d, d.typed() || d.a != nil || spread.least == spread.most && !spread.negative
}

var decimalText = text.Pattern(`^-?[0-9]+(\.[0-9]+)?$`)

// A numberSpread summarizes the numbers of a component.
type numberSpread struct {
	n              int
	least, most    int // digits before the point
	decimals       int
	negative, year bool
	bounded        bool // the model limits them
	padded         bool // one begins with a zero
}

// add adds a text if it is a number.
func (s *numberSpread) add(number string) {
	if !decimalText().MatchString(number) {
		return
	}
	digits, frac, _ := strings.Cut(strings.TrimPrefix(number, "-"), ".")
	s.negative = s.negative || number[0] == '-'
	if s.n == 0 || len(digits) < s.least {
		s.least = len(digits)
	}
	s.most = max(s.most, len(digits))
	s.padded = s.padded || len(digits) > 1 && digits[0] == '0'
	s.decimals = max(s.decimals, len(frac))
	y, err := strconv.Atoi(number)
	s.year = (s.n == 0 || s.year) && err == nil && y >= 1900 && y <= 2100
	s.n++
}

// spreadOf summarizes the numbers of a component. It reports false if they are
// not numbers, or if all have one width.
func spreadOf(p *rule.Pass, c rule.Component) (seen numberSpread, ok bool) {
	words := c.Written()
	if c.AllWritten(isEpoch) {
		return seen, false // mixed-epoch judges those
	}

	switch {
	case c.Type.Name == "number":
		for _, it := range p.Items(c.Entity) {
			seen.add(it.Values.Get(c.Name))
		}
		if f := c.Entity.Field(c.Name); f != nil {
			for _, text := range append([]string{f.From, f.To}, f.Values...) {
				seen.add(text)
			}
			seen.bounded = len(f.Values) > 0 || f.From != "" && f.To != ""
		}
		return seen, seen.negative || seen.n == 0 || seen.least != seen.most || !seen.bounded && !seen.year
	case rule.Plain(c.Type):
		for _, w := range words {
			seen.add(w.Text)
		}
		if seen.n < len(words) || seen.n == 0 {
			return seen, false
		}
		// One width says nothing yet.
		grows := !seen.padded && (counts(c) || countsByValue(p, c) || numberWanter(p, c) != nil)
		return seen, seen.n > 1 && (seen.negative || seen.least != seen.most) || grows
	}
	return seen, false
}

// countingWords end the names of fields that count from one, so that ten comes
// after nine sooner or later.
var countingWords = []string{
	"version", "revision", "rev", "seq", "sequence", "rank", "level", "index", "position", "pos", "step", "page",
	"chapter", "episode", "season", "round", "iteration", "attempt", "count", "counter", "ordinal", "nr", "line",
}

// counts reports whether a field counts by its name, and the model does not list
// its values. Numbers of four digits and more rather are ids of one width.
func counts(c rule.Component) bool {
	f, word := c.Entity.Field(c.Name), lastWord(c.Name)
	return (unitWidths[word] > 1 || slices.Contains(countingWords, word)) &&
		(f == nil || len(f.Values) == 0 && f.MaxSize == 0) &&
		c.AllWritten(func(text string) bool { return len(text) < 4 })
}

// countsByValue reports whether the values of a field count, whatever its name is: 0, 1, 2 and so on, or
// from 1 on if the field is not named as an entity, whose ids people number in samples.
func countsByValue(p *rule.Pass, c rule.Component) bool {
	f, words := c.Entity.Field(c.Name), c.Written()
	if len(words) < 3 || f != nil && (len(f.Values) > 0 || f.MaxSize > 0) {
		return false
	}
	first := 0
	if words[0].Text == "1" {
		first = 1
	}
	for i, w := range words {
		if w.Text != strconv.Itoa(first+i) {
			return false
		}
	}
	isID := slices.ContainsFunc(p.Entities, func(e *model.Entity) bool { return lastWord(e.Name) == lastWord(c.Name) })
	return first == 0 || !isID && !hasWord(c.Name, "id", "no", "code", "key")
}

func isEpoch(text string) bool {
	shape, _ := rule.ShapeOf(text)
	return shape.Epoch()
}
