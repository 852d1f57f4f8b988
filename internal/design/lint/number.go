package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
)

var unpaddedNumber = lint{Rule{
	ID: "unpadded-number", Title: "Numbers in text that are not padded", Severity: model.Warning,
	Help: "Text is compared byte by byte, so 10 comes before 9: the first digits decide, however many follow. " +
		"Rows with such a number in the sort key are not in numeric order, a range of numbers is not a range of keys, and the newest version is not the last row.",
	Example: []string{`"V#1"`, `"V#10"`, `"V#9"`},
	Cure:    "Pad numbers to the width of the largest possible one: {version:int(6)} gives V#000009 and V#000010. Or use a sort key attribute of type N.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.html (strings are ordered by their UTF-8 bytes)",
}, func(l *linter) { l.reportNumbers(false) }}

var negativeNumber = lint{Rule{
	ID: "negative-number", Title: "Negative numbers in text", Severity: model.Warning,
	Help: "The minus sign sorts below all digits, so negative numbers come before positive ones, but among themselves they are ordered by their digits: -1 before -2. " +
		"Padding does not help.",
	Example: []string{`"TEMP#-1"`, `"TEMP#-20"`, `"TEMP#5"`},
	Cure:    "Use a type that preserves the order: {degrees:signed(4)}, or {amount:decimal(6,2)} for decimals. Or use a sort key attribute of type N.",
	Source:  "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Query.html (strings are ordered by their UTF-8 bytes; \"-\" is 0x2D, \"0\" is 0x30)",
}, func(l *linter) { l.reportNumbers(true) }}

// A numberHazard is a component of a sort key whose numbers are out of order.
type numberHazard struct {
	s        *slot
	name     string
	typed    bool // the model declares it a number
	negative bool
	digits   int // of the largest known number
	decimals int
	a, b     *world.Item // adjacent items out of order
	count    int         // of such pairs
	pattern  *query      // a pattern that depends on the order
}

func (l *linter) reportNumbers(negative bool) {
	if !l.counted {
		l.counted = true
		l.countNumbers()
	}
	var one []numberHazard
	flush := func() {
		if len(one) > 0 {
			l.addNumbers(one)
		}
		one = nil
	}
	for _, h := range l.numbers {
		if h.negative != negative {
			continue
		}
		if len(one) > 0 && one[0].s != h.s {
			flush()
		}
		one = append(one, h)
	}
	flush()
}

// addNumbers adds the finding for one template.
func (l *linter) addNumbers(all []numberHazard) {
	h := all[0]
	for _, o := range all {
		if h.pattern == nil && o.pattern != nil || h.a == nil && o.a != nil {
			h = o
		}
	}
	var names []string
	parts, typed := h.s.t.Template.Parts(), false
	for _, o := range all {
		names = append(names, o.name)
		typed = typed || o.typed
		width := max(o.digits+2, 4)
		with := fmt.Sprintf("int(%d)", width)
		switch {
		case o.negative && o.decimals == 0:
			with = fmt.Sprintf("signed(%d)", width)
		case o.decimals > 0:
			with = fmt.Sprintf("decimal(%d,%d)", width, o.decimals)
		}
		if known := calendar(o.name); known != "" && !o.negative {
			with = known
		}
		for i := range parts {
			if parts[i].Name == o.name {
				parts[i].Type, _ = parseType(with)
				parts[i].Typed = true
			}
		}
	}
	better := source(parts, "", "")
	advice := fmt.Sprintf("write %s: %q, which sorts in numeric order", h.s.t.Name, better)
	if len(parts) == 1 {
		advice += "; or give " + h.s.t.Name + " type N"
	}
	v := h.s.sortView()
	f := model.Finding{Advice: "pad the numbers to one width, or use a sort key attribute of type N"}
	fix := proposal{text: advice, edits: []edit{writeTemplate(h.s.e.Name, h.s.t.Name, better)}}
	what := map[bool]string{false: "numbers that are not padded", true: "numbers that can be negative"}[h.negative]
	if len(names) == 1 {
		what = map[bool]string{false: "a number that is not padded", true: "a number that can be negative"}[h.negative]
	}
	f.Message = fmt.Sprintf("%s in %s of %s %s %s", list(names), h.s.t.Name, v.name(), are(len(names)), what)
	low, high := "9", "10"
	if h.negative {
		low, high = "-2", "-1"
	}
	if h.a != nil {
		low, high = h.b.Values.Get(h.name), h.a.Values.Get(h.name)
		f.Keys = v.shown(h.a, h.b)
		f.Message += fmt.Sprintf(": %s sorts before %s%s", high, low, andMore(h.count-1))
	} else {
		f.Message += fmt.Sprintf(": %s would sort before %s", high, low)
		f.Keys = l.pair(h.s, h.name, authoredValue{text: high}, authoredValue{text: low})
	}
	switch {
	case h.pattern != nil && h.a != nil:
		f.Severity = model.Error
		f.Message += fmt.Sprintf("; %q needs numeric order", h.pattern.p.Name)
	case !typed && h.pattern == nil:
		f.Severity = model.Note
	}
	l.propose(v.in(h.s.in(f)), fix)
}

// calendar returns the type for a component with the name of a calendar unit.
func calendar(name string) string {
	switch strings.ToLower(name) {
	case "year":
		return "int(4)"
	case "month", "day", "hour", "minute", "second", "week":
		return "int(2)"
	}
	return ""
}

func (l *linter) countNumbers() {
	for _, s := range l.slots {
		v := s.sortView()
		if v == nil || s.t.Kind != attr.String {
			continue
		}
		for i, p := range s.parts {
			if p.Name == "" {
				continue
			}
			if h, ok := l.numberHazard(v, s, i); ok {
				l.numbers = append(l.numbers, h)
			}
		}
	}
}

var decimalText = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// A spread summarizes the numbers of a component.
type spread struct {
	n              int
	least, most    int // digits before the point
	decimals       int
	negative, year bool
	padded         bool // some have leading zeros
}

func (s *spread) add(number string) {
	digits, frac, _ := strings.Cut(strings.TrimPrefix(number, "-"), ".")
	s.negative = s.negative || number[0] == '-'
	if s.n == 0 || len(digits) < s.least {
		s.least = len(digits)
	}
	s.most = max(s.most, len(digits))
	s.decimals = max(s.decimals, len(frac))
	y, err := strconv.Atoi(number)
	s.year = (s.n == 0 || s.year) && err == nil && y >= 1900 && y <= 2100
	s.padded = s.padded || len(digits) > 1 && digits[0] == '0'
	s.n++
}

// numberHazard checks one component.
func (l *linter) numberHazard(v *view, s *slot, at int) (numberHazard, bool) {
	p := s.parts[at]
	h := numberHazard{s: s, name: p.Name, typed: p.Type.Name == "number"}
	if l.epochs(s.e, p.Name) {
		return h, false // mixed-epoch judges those
	}
	var seen spread
	switch f := s.e.Field(p.Name); {
	case h.typed:
		for _, it := range l.items[s.e] {
			if text := it.Values.Get(p.Name); decimalText.MatchString(text) {
				seen.add(text)
			}
		}
		if f != nil {
			for _, text := range append([]string{f.From, f.To}, f.Values...) {
				if decimalText.MatchString(text) {
					seen.add(text)
				}
			}
		}
		bounded := f != nil && (len(f.Values) > 0 || f.From != "" && f.To != "")
		if !seen.negative && seen.n > 0 && seen.least == seen.most && (bounded || seen.year) {
			return h, false
		}
	case p.Type.Name == "" || p.Type.Name == "string":
		for _, w := range l.authored(s.e, p.Name) {
			if !decimalText.MatchString(w.text) {
				return h, false
			}
			seen.add(w.text)
		}
		if seen.n < 2 || seen.least == seen.most && !seen.negative {
			return h, false
		}
	default:
		return h, false
	}
	h.negative, h.digits, h.decimals = seen.negative, seen.most, seen.decimals
	l.adjacentRows(v, s, at, func(a, b *world.Item) bool {
		x, err := strconv.ParseFloat(a.Values.Get(h.name), 64)
		y, err2 := strconv.ParseFloat(b.Values.Get(h.name), 64)
		if err == nil && err2 == nil && y < x {
			if h.count++; h.a == nil {
				h.a, h.b = a, b
			}
		}
		return true
	})
	if !h.typed && h.a == nil {
		return h, false
	}
	for _, q := range l.queries {
		if q.p.Entity == s.e && q.v == v && q.dependsOn(l, s, at, h.typed) {
			h.pattern = q
			break
		}
	}
	return h, true
}

// epochs reports whether all values that people wrote for a field are seconds or
// milliseconds since 1970.
func (l *linter) epochs(e *model.Entity, field string) bool {
	all := l.authored(e, field)
	return len(all) > 0 &&
		!slices.ContainsFunc(all, func(w authoredValue) bool { return !epochText.MatchString(w.text) && !epochMilli.MatchString(w.text) })
}

// dependsOn reports whether a pattern needs its rows in order of a component:
// it asks for a range of it, for descending order, or for a limited number.
func (q *query) dependsOn(l *linter, s *slot, at int, typed bool) bool {
	if c, ok := q.given(s.parts[at].Name); ok {
		return c.Op != ast.Equal && c.Op != ast.OpBeginsWith
	}
	if !q.p.Descending && (q.p.Limit == 0 || !typed) {
		return false
	}
	slot, next, ok := q.next(l, s.e)
	return ok && slot == s && next == at
}
