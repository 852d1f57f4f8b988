package rule

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// A Format is a way to write times.
type Format struct {
	Name string // for sentences
	// Disorder says why its byte order is not chronological, or is "".
	Disorder string
	text     func() *regexp.Regexp
	// Kind is what it writes if that is not a date, and Cure a better way to write that.
	Kind, Cure string
}

// Formats that rules know by name.
var (
	Day          = &Format{Name: "date", text: text.Pattern(`^\d{4}-\d{2}-\d{2}$`)}
	Seconds      = &Format{Name: "seconds since 1970", text: text.Pattern(`^1\d{9}$`)}
	Milliseconds = &Format{Name: "milliseconds since 1970", text: text.Pattern(`^1\d{12}$`)}
	DayTime      = &Format{Name: "date T time"}
	spaced       = &Format{Name: "date and time with a space"}
)

const monthNames = `(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|` +
	`oct(ober)?|nov(ember)?|dec(ember)?)\.?`

// formats are those without a zone, in the order in which they are tried.
var formats = []*Format{
	Day, Seconds, Milliseconds,
	disordered("date without padding", "without padding", `^\d{4}-\d{1,2}-\d{1,2}$`),
	{Name: "date with slashes", text: text.Pattern(`^\d{4}/\d{2}/\d{2}$`)},
	disordered("date day or month first", "day or month first", `^\d{1,2}/\d{1,2}/\d{4}( .*)?$`),
	disordered("date the day first", "the day first", `^\d{1,2}\.\d{1,2}\.\d{4}( .*)?$`),
	disordered("date the day first", "the day first", `^\d{1,2}-\d{1,2}-\d{4}( .*)?$`),
	disordered("with names of months", "with names of months",
		`(?i)^([a-z]{3,9},? )?(\d{1,2}(st|nd|rd|th)?[ -]`+monthNames+`|`+
			monthNames+`[ -]\d{1,2}(st|nd|rd|th)?),?[ -]`+
			`(\d{2}|\d{4})([ ,].*)?$|^`+monthNames+`[ -]\d{4}$`),
	{Name: "without separators", text: text.Pattern(`^(19|20)\d{6}T\d{6}Z?$`)},
	{Name: "week", text: text.Pattern(`^\d{4}-?[Ww]\d{2}(-?\d)?$`)},
	{
		Name: "week without padding", Disorder: "without padding", text: text.Pattern(`^\d{4}-?[Ww]\d$`),
		Kind: "week", Cure: "write weeks with two digits, as in 2026-W09",
	},
	{
		Name: "with AM and PM", Disorder: "with AM and PM",
		text: text.Pattern(`(?i)^(\d{4}-\d{2}-\d{2}[ T])?\d{1,2}:\d{2}(:\d{2})? ?[ap]\.?m\.?$`),
		Kind: "time", Cure: "write hours from 00 to 23, as in 13:00",
	},
	{
		Name: "hours without padding", Disorder: "without padding", text: text.Pattern(`^\d:\d{2}(:\d{2})?$`),
		Kind: "time of day", Cure: "write hours with two digits, as in 09:00",
	},
	{Name: "time of day", text: text.Pattern(`^\d{2}:\d{2}(:\d{2})?$`)},
}

// disordered returns a format of dates whose byte order is not chronological.
func disordered(name, why, expr string) *Format {
	return &Format{Name: name, Disorder: why, text: text.Pattern(expr)}
}

// monthsUnpadded is the format of months some of which have one digit.
var monthsUnpadded = &Format{
	Name: "month without padding", Disorder: "without padding", Kind: "month",
	Cure: "write months with two digits, as in 2026-09",
}

var (
	month    = text.Pattern(`^(19|20)\d{2}-([1-9]|1[0-2])$`)
	weekName = text.Pattern(`(?i)week|(^|_)[ck]?wk?(_|$)`)
)

// mixedLengths reports whether all values of a component have a form, and some are longer than others.
func (c Component) mixedLengths(form *regexp.Regexp) bool {
	words := c.Written()
	return c.AllWritten(form.MatchString) && slices.ContainsFunc(words, func(w Written) bool {
		return len(w.Text) != len(words[0].Text)
	})
}

var isoTime = text.Pattern(`^\d{4}-\d{2}-\d{2}([T ])(\d{2}:\d{2})(:\d{2})?(\.\d+)?(Z|[+-]\d{2}:?\d{2})?$`)

// A Shape is how a timestamp is written.
type Shape struct {
	*Format
	Zone      string // Z, an offset, or "no zone"; "" if the format has none
	Precision string
	Desc      bool
}

// Epoch reports whether the timestamp is a number of seconds or milliseconds.
func (s Shape) Epoch() bool { return s.Format == Seconds || s.Format == Milliseconds }

// ShapeOf returns the shape of text, and whether text is a timestamp.
func ShapeOf(text string) (Shape, bool) {
	if m := isoTime().FindStringSubmatch(text); m != nil {
		s := Shape{Format: DayTime, Zone: m[5], Precision: "minutes"}
		if m[1] == " " {
			s.Format = spaced
		}
		if s.Zone == "" {
			s.Zone = "no zone"
		}
		switch {
		case m[4] != "":
			s.Precision = fmt.Sprintf("%d decimals", len(m[4])-1)
		case m[3] != "":
			s.Precision = "seconds"
		}
		return s, true
	}
	for _, f := range formats {
		if f.text().MatchString(text) {
			return Shape{Format: f}, true
		}
	}
	return Shape{}, false
}

// shapeOfType returns the shape that a type writes, and whether the type is a
// time.
func shapeOfType(t keys.Type) (Shape, bool) {
	s := Shape{Format: DayTime, Zone: "Z", Desc: t.Desc}
	switch t.Name {
	case "date", "month", "year":
		s.Format, s.Zone = Day, ""
	case "time":
		s.Precision = "seconds"
	case "millis":
		s.Precision = "3 decimals"
	case "micros":
		s.Precision = "6 decimals"
	case "nanos":
		s.Precision = "9 decimals"
	case "epoch":
		s.Format, s.Zone = Seconds, ""
	case "epochms":
		s.Format, s.Zone = Milliseconds, ""
	default:
		return s, false
	}
	return s, true
}

// A Timestamp is a time in a component, with an example.
type Timestamp struct {
	Component
	Shape Shape
	Value Written
	// Declared is true if the shape is that of the component's type.
	Declared bool
}

// Timestamps returns one example of each shape of a component, or nil if its
// values are not timestamps.
func (c Component) Timestamps() (all []Timestamp) {
	if shape, ok := shapeOfType(c.Type); ok {
		t := Timestamp{Component: c, Shape: shape, Declared: true}
		for _, it := range c.study.items[c.Entity] {
			if value := it.Values.Get(c.Name); value != "" {
				t.Value = Written{value, it}
				break
			}
		}
		return []Timestamp{t}
	}
	if !Plain(c.Type) && c.Type.Name != "number" && c.Type.Name != "int" {
		return nil
	}
	weeks := weekName().MatchString(c.Name)
	months := c.mixedLengths(month())
	for _, w := range c.Written() {
		shape, ok := ShapeOf(w.Text)
		if !ok && weeks {
			shape, ok = ShapeOf("2026-" + w.Text) // W9
		}
		if months {
			shape, ok = Shape{Format: monthsUnpadded}, true
		}
		if !ok {
			return nil
		}
		if !slices.ContainsFunc(all, func(t Timestamp) bool { return t.Shape == shape }) {
			all = append(all, Timestamp{Component: c, Shape: shape, Value: w})
		}
	}
	return all
}
