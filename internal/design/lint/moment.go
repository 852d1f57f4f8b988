package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// layouts are the formats in which people write times. dayLayouts are the formats for days, months and quarters. They
// have - between the numbers; separators replaces other separators in a value by -.
var (
	layouts = []string{
		time.RFC3339, time.DateTime, "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04",
		"20060102T150405Z", "20060102T150405", "2006-01-02 3:04 PM", "3:04 PM", "3:04PM", "3PM", "3 PM",
	}
	dayLayouts = []string{
		time.DateOnly, "2006-1-2", "2-1-2006", "1-2-2006", "2.1.2006", "2-Jan-2006", "Jan-2-2006", "2-January-2006",
		"January-2-2006", "1-2006", "Jan-2006", "January-2006", "Q1-2006",
	}
	separators = strings.NewReplacer("/", "-", ", ", "-", " ", "-")
)

// sinceEpoch is the end of the layout of times that people write as numbers.
const sinceEpoch = " since 1970"

// momentOf returns the time that s denotes, and its layout. If s is a number, the layout is "seconds since 1970" for
// 10 digits and "milliseconds since 1970" for 13.
func momentOf(s string) (at time.Time, layout string, ok bool) {
	if epochText().MatchString(s) {
		var n int64
		fmt.Sscan(s, &n)
		if len(s) == 13 {
			return time.UnixMilli(n), "milliseconds" + sinceEpoch, true
		}
		return time.Unix(n, 0), "seconds" + sinceEpoch, true
	}
	for _, layout := range layouts {
		if at, err := time.Parse(layout, strings.ToUpper(s)); err == nil {
			return at, layout, true
		}
	}
	for _, layout := range dayLayouts {
		at, err := time.Parse(layout, separators.Replace(s))
		if err == nil && 1900 <= at.Year() && at.Year() <= 2100 { // other years are probably numbers
			return at, layout, true
		}
	}
	return at, "", false
}

var epochText = text.Pattern(`^1(\d{9}|\d{12})$`)

// layoutPrecision returns how precisely a layout writes times: a day, a minute, a second or a millisecond.
func layoutPrecision(layout string) time.Duration {
	switch {
	case strings.HasPrefix(layout, "milliseconds"):
		return time.Millisecond
	case strings.HasPrefix(layout, "seconds") || strings.Contains(layout, "05"):
		return time.Second
	case strings.Contains(layout, "04"):
		return time.Minute
	}
	return 24 * time.Hour
}

func isMoment(s string) bool {
	_, _, ok := momentOf(s)
	return ok
}

// A format is the format in which an entity writes times at one place of a key, with an example.
type format struct {
	Component
	value Written
	text  string // the example as a key has it
	shape string // see shapeOf
}

var zone = text.Pattern(`([+-]\d{2}:?\d{2}|Z)$`)

// shapeOf replaces the digits of s with zeros, except in the time zone at its end. The shape of a number since 1970 is
// the number of its digits.
func shapeOf(s string) string {
	if epochText().MatchString(s) {
		return fmt.Sprintf("%d digits", len(s))
	}
	at := len(s)
	if m := zone().FindStringIndex(s); m != nil && strings.Contains(s, ":") {
		at = m[0]
	}
	return masked(s[:at]) + s[at:]
}

// formatsOf returns an example of each format in which c has times. It leaves out the formats that [times] reports,
// and returns nil if the values are not times.
func formatsOf(p *Pass, c Component) (all []format) {
	words := c.Written()
	if model.Moment(c.Type) {
		value := Written{Text: "2026-01-05T10:00:00Z", Item: p.First(c.Entity)}
		s, _ := c.Type.Encode(value.Text) // every type of time can encode this value
		shape := shapeOf(s)
		if c.Type.Desc {
			shape = "descending " + shape
		}
		if value.Item != nil {
			s = cmp.Or(c.Encoded(value.Item), s)
		}
		return []format{{c, value, s, shape}}
	}
	if !plain(c.Type) && c.Type.Name != "number" && c.Type.Name != "int" || !c.AllWritten(isMoment) {
		return nil
	}
	for _, w := range words {
		_, layout, _ := momentOf(w.Text)
		_, _, reported := unordered(layout)
		shape := shapeOf(w.Text)
		if !reported && !slices.ContainsFunc(all, func(f format) bool { return f.shape == shape }) {
			all = append(all, format{c, w, w.Text, shape})
		}
	}
	return all
}

// checkFormats reports times at the same place in keys whose formats do not sort together. It reports each slot at
// most once. Two formats sort together if one of them is a period, such as a day, and the other begins with this
// period.
func checkFormats(p *Pass) {
	at, reported := map[string][]format{}, map[*Slot]bool{}
	for _, s := range p.Slots {
		for _, c := range s.Components() {
			found := formatsOf(p, c)
			for _, v := range s.Places {
				place := strings.Join([]string{
					v.Table.Name, v.String(), s.Name, partitionShape(s, v), skeleton(s.Parts[:c.At]),
				}, "\x00")
				for _, b := range found {
					f := mixed(at[place], b)
					if at[place] = append(at[place], b); f == nil || reported[s] {
						continue
					}
					reported[s] = true
					p.Report(f)
				}
			}
		}
	}
}

// mixed compares format b with the formats in before. If b does not sort together with one of them, it returns a
// finding, and otherwise nil.
func mixed(before []format, b format) *Finding {
	for _, a := range before {
		short, long := a.shape, b.shape
		if len(short) > len(long) {
			short, long = long, short
		}
		day := !strings.Contains(short, ":")
		if short == long || day && strings.HasPrefix(long, short) {
			continue
		}
		f := b.Finding("times in %s of %s are written in two formats, %s in %s and %s in %s, so their bytes are not "+
			"in order of time", b.Slot, b.View(), a.text, a.Entity.Name, b.text, b.Entity.Name)
		f.Keys = append(a.KeyWith(a.value), b.KeyWith(b.value)...)
		if q := b.NeededBy(true); q != nil {
			f.Severity = model.Error
			f.Say("; %q needs the order of time", q.Name)
		}
		f.Advise("write all of them in one format, such as %s", b.As("millis"))
		if b.Kind == attr.Number {
			f.Advise("write %s in one unit everywhere: multiply the seconds by 1,000", b.Name)
		}
		return f
	}
	return nil
}

// partitionShape returns the skeleton of the partition key that the view v has for a slot of its sort key.
// checkFormats compares only slots with equal skeletons, because only rows of the same partition sort together.
func partitionShape(s *Slot, v Place) string {
	if !v.Sort {
		return ""
	}
	var b strings.Builder
	for _, a := range v.Hash {
		if t := s.Entity.Attribute(a.Name); t != nil && t.Template != nil {
			b.WriteString(skeleton(t.Template.Parts()))
		}
		b.WriteByte(2)
	}
	return b.String()
}
