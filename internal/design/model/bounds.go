package model

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/sortkey/sortkey/internal/design/terminal"
	"github.com/sortkey/sortkey/keys"
)

// Bounds limit the generated numbers or times of a field to the range from Low to high, both included. Low and high
// count units: the last decimal place of a number, or the Unit or calendar unit of a time.
type Bounds struct {
	Low, high int64
	// scale is the number of decimal places of a number.
	scale int
	// Unit is the unit of a time, or 0 for a number. For years and months, calendar is the unit instead, and Unit has
	// no meaning.
	Unit     time.Duration
	calendar string
	layout   string
	Given    bool // the field declares from or to
}

// The default bounds of generated times.
const (
	firstTime = "2025-01-01T00:00:00Z"
	lastTime  = "2025-12-31T23:59:59Z"
)

// Count returns the number of values within the bounds, at least 1.
func (b *Bounds) Count() uint64 {
	n := uint64(b.high) - uint64(b.Low)
	if n == math.MaxUint64 {
		return n
	}
	return n + 1
}

// Spread returns the text form of the i-th of n values that are spread evenly over the bounds.
func (b *Bounds) Spread(i, n uint64) string {
	if n <= 1 {
		return b.Text(b.Low)
	}
	hi, lo := bits.Mul64(i%n, b.Count())
	step, _ := bits.Div64(hi, lo, n)
	return b.Text(b.Low + int64(step))
}

// Text returns the text form of v, a number of units.
func (b *Bounds) Text(v int64) string {
	switch {
	case b.calendar == "month":
		return time.Date(int(v/12), time.Month(v%12+1), 1, 0, 0, 0, 0, time.UTC).Format("2006-01")
	case b.calendar == "year":
		return fmt.Sprintf("%04d", v)
	case b.Unit != 0:
		return b.time(v).Format(b.layout)
	case b.scale == 0:
		return strconv.FormatInt(v, 10)
	}
	sign := ""
	u := uint64(v)
	if v < 0 {
		sign, u = "-", -u
	}
	digits := fmt.Sprintf("%0*d", b.scale+1, u)
	cut := len(digits) - b.scale
	return sign + digits[:cut] + "." + digits[cut:]
}

func (b *Bounds) time(v int64) time.Time {
	if b.Unit > time.Second {
		return time.Unix(v*int64(b.Unit/time.Second), 0).UTC()
	}
	per := int64(time.Second / b.Unit)
	sec := floor(v, per)
	return time.Unix(sec, (v-sec*per)*int64(b.Unit)).UTC()
}

// Bounds returns the bounds of a field of a numeric or time type, or nil.
func (f *Field) Bounds() (*Bounds, error) {
	switch f.Type.Name {
	case "int", "signed", "decimal", "number":
		return f.numbers()
	case "year", "month", "date", "hour", "minute",
		"time", "millis", "micros", "nanos", "epoch", "epochms", "ulid", "ksuid":
		return f.times()
	}
	if f.From != "" || f.To != "" {
		return nil, fmt.Errorf(
			"from and to apply to numbers and times, and %s is neither; declare a type", f.Type,
		)
	}
	return nil, nil
}

func (f *Field) numbers() (*Bounds, error) {
	b := &Bounds{Given: f.From != "" || f.To != ""}
	switch f.Type.Name {
	case "decimal":
		b.scale = min(f.Type.Scale, 9)
	case "number":
		b.scale = min(max(places(f.From), places(f.To)), 9)
	}

	whole := min(f.Type.Width, 15-b.scale)
	most := int64(math.Pow10(whole+b.scale)) - 1
	switch f.Type.Name {
	case "int":
		b.Low, b.high = 1, most
	case "signed":
		b.Low, b.high = -most, most
	case "decimal":
		b.Low, b.high = 0, most
	default:
		b.Low, b.high = 1, 1000
	}

	for _, bound := range []struct {
		text string
		to   *int64
	}{{f.From, &b.Low}, {f.To, &b.high}} {
		if bound.text == "" {
			continue
		}
		v, err := scaled(bound.text, b.scale)
		if err != nil {
			return nil, err
		}
		*bound.to = v
	}

	if f.From != "" && f.To == "" && b.high < b.Low && f.Type.Name == "number" {
		b.high = b.Low + 1000
	}
	if f.To != "" && f.From == "" && b.high < b.Low {
		b.Low = min(b.Low, b.high-1000)
	}
	return b, b.check(f)
}

func (b *Bounds) check(f *Field) error {
	if b.high < b.Low {
		return fmt.Errorf("from %s is after to %s", b.Text(b.Low), b.Text(b.high))
	}
	return nil
}

func places(text string) int {
	_, frac, _ := strings.Cut(text, ".")
	return len(frac)
}

// scaled parses a decimal number and returns it multiplied by 10^scale.
func scaled(text string, scale int) (int64, error) {
	whole, frac, _ := strings.Cut(text, ".")
	if len(frac) > scale {
		return 0, fmt.Errorf("%s has more than %d decimal places", text, scale)
	}
	v, err := strconv.ParseInt(whole+frac+strings.Repeat("0", scale-len(frac)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is not a number such as 5 or -2.50", text)
	}
	return v, nil
}

func (f *Field) times() (*Bounds, error) {
	b := &Bounds{Unit: time.Second, layout: time.RFC3339Nano, Given: f.From != "" || f.To != ""}
	switch f.Type.Name {
	case "year", "month":
		b.calendar = f.Type.Name
	case "date":
		b.Unit, b.layout = 24*time.Hour, time.DateOnly
	case "hour":
		b.Unit = time.Hour
	case "minute":
		b.Unit = time.Minute
	case "millis", "epochms", "ulid":
		b.Unit = time.Millisecond
	case "micros":
		b.Unit = time.Microsecond
	case "nanos":
		b.Unit = time.Nanosecond
	}

	from, to := f.From, f.To
	first, err := moment(from, firstTime, false)
	if err != nil {
		return nil, err
	}

	last, err := moment(to, lastTime, true)
	if err != nil {
		return nil, err
	}
	if from != "" && to == "" && last.Before(first) {
		last = first.AddDate(1, 0, 0)
	}
	if to != "" && from == "" && last.Before(first) {
		first = last.AddDate(-1, 0, 0)
	}

	b.Low, b.high = b.units(first), b.units(last)
	return b, b.check(f)
}

// units returns the time in units since 1970, or in calendar units since the year 0.
func (b *Bounds) units(at time.Time) int64 {
	switch {
	case b.calendar == "year":
		return int64(at.Year())
	case b.calendar == "month":
		return int64(at.Year())*12 + int64(at.Month()) - 1
	case b.Unit > time.Second:
		return floor(at.Unix(), int64(b.Unit/time.Second))
	}
	return at.Unix()*int64(time.Second/b.Unit) + int64(at.Nanosecond())/int64(b.Unit)
}

// floor returns n / by, rounded down.
func floor(n, by int64) int64 {
	q := n / by
	if n%by < 0 {
		q--
	}
	return q
}

// moment parses an RFC 3339 time, a date, a month or a year. If the text is empty, it parses the second argument
// instead. If end is set, it returns the last second of a date, month or year instead of the first.
func moment(of, otherwise string, end bool) (time.Time, error) {
	if of == "" {
		of = otherwise
	}
	at, err := time.Parse(time.RFC3339Nano, of)
	for _, u := range Units[:days+1] {
		if err == nil {
			break
		}
		if at, err = time.Parse(u.Layout, of); err == nil && end {
			at = u.Next(at).Add(-time.Second)
		}
	}
	if err == nil && 1 <= at.Year() && at.Year() <= 9998 {
		return at.UTC(), nil
	}
	return time.Time{}, fmt.Errorf("%s is not a time such as 2026-01-05 or 2026-01-05T10:00:00Z", terminal.Clip(of, 60))
}

// Moment reports whether a type is a point in time or a period.
func Moment(t keys.Type) bool { return precision[t.Name] > 0 }

// precision orders the types of times from the least precise to the most precise. No field or component has the type
// hour or minute. Only conditions use these types, to compare a time with an hour or a minute.
var precision = map[string]int{
	"year": 1, "month": 2, "date": 3, "hour": 4, "minute": 5, "time": 6, "epoch": 6, "millis": 7, "epochms": 7,
	"micros": 8, "nanos": 9,
}

// A Unit is a unit of the calendar, such as month. Its periods have a text form, such as 2026-01: Name is the type of
// this text, and Layout is its layout for package time.
type Unit struct {
	Name, Layout        string
	years, months, days int
	rest                time.Duration
}

// Units are the units of periods, the longest first.
var Units = []Unit{
	{"year", "2006", 1, 0, 0, 0},
	{"month", "2006-01", 0, 1, 0, 0},
	{"date", time.DateOnly, 0, 0, 1, 0},
	{"hour", "2006-01-02T15", 0, 0, 0, time.Hour},
	{"minute", "2006-01-02T15:04", 0, 0, 0, time.Minute},
}

// days is the index of days in Units. The bounds of fields are not written in shorter units.
const days = 2

// Layouts are the text forms of times in the bounds of fields and in ranges, the most precise first.
var Layouts = []string{time.RFC3339Nano, Units[days].Layout, Units[1].Layout, Units[0].Layout}

// Next returns the beginning of the period after the one that begins at a time.
func (u Unit) Next(at time.Time) time.Time { return at.AddDate(u.years, u.months, u.days).Add(u.rest) }

// Period returns the type of the period that a condition names, such as hour for 2026-01-05T10. It returns false if
// the text is not a period.
func Period(text string) (keys.Type, bool) {
	for _, u := range Units {
		if _, err := time.Parse(u.Layout, text); err == nil {
			return keys.Type{Name: u.Name}, true
		}
	}
	return keys.Type{}, false
}

// InPeriod returns the period of type t that contains a time in RFC 3339 form. It returns other texts unchanged.
func InPeriod(t keys.Type, text string) string {
	for _, u := range Units {
		n := len(u.Layout)
		if u.Name != t.Name || n >= len(text) || !strings.ContainsRune("-T:", rune(text[n])) {
			continue
		}
		if _, err := time.Parse(u.Layout, text[:n]); err == nil {
			return text[:n]
		}
	}
	return text
}

// Finer reports whether both types are times and t is more precise than the other.
func Finer(t, than keys.Type) bool {
	return Moment(than) && precision[t.Name] > precision[than.Name]
}
