package compile

import (
	"slices"
	"time"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/keys"
)

// precision returns the index in [model.Units] of a type's unit, or their number for times more precise than all
// units. It reports false for types that are not times.
func precision(t keys.Type) (int, bool) {
	unit := slices.IndexFunc(model.Units, func(u model.Unit) bool { return u.Name == t.Name })
	if unit < 0 && model.Moment(t) {
		unit = len(model.Units)
	}
	return unit, unit >= 0
}

// Period returns the first and the last moment of a period in RFC 3339 form, such as those of the month 2026-01. It
// reports false unless the text is a period longer than the values of type t, such as a month for dates.
func Period(t keys.Type, text string) (first, last string, ok bool) {
	units, ok := precision(t)
	if !ok {
		return "", "", false
	}
	for i, u := range model.Units[:units] {
		if i == 0 && (t.Name == "epoch" || t.Name == "epochms") {
			continue // for these types, 2026 is a time, not a year
		}
		if at, err := time.Parse(u.Layout, text); err == nil {
			return at.Format(time.RFC3339), u.Next(at).Add(-1).Format(time.RFC3339Nano), true
		}
	}
	return "", "", false
}

// endsOf returns the first and the last moment of a period, as [Period] does, or a text that is no such period twice.
func endsOf(t keys.Type, text string) (first, last string) {
	if first, last, ok := Period(t, text); ok {
		return first, last
	}
	return text, text
}

// whole replaces each period in a condition on a time by its first or last moment, as the operator requires. A
// condition with = becomes a BETWEEN, which matches all times of the period; > matches only times after its last
// moment.
func whole(w model.Condition, t keys.Type) model.Condition {
	if len(w.Args) == 0 {
		return w
	}
	first, _ := endsOf(t, w.Args[0])
	_, last := endsOf(t, w.Args[len(w.Args)-1])
	switch w.Op {
	case ast.Equal:
		if first != last {
			w.Op, w.Args = ast.OpBetween, []string{first, last}
		}
	case ast.OpBetween:
		w.Args = []string{first, last}
	case ast.Less, ast.GreaterOrEqual:
		w.Args = []string{first}
	case ast.LessOrEqual, ast.Greater:
		w.Args = []string{last}
	}
	return w
}

// moments are times of any precision.
var moments = keys.Type{Name: "nanos"}

// periodOf returns the period of type t, such as a date, that contains a time or a shorter period.
func periodOf(t keys.Type, text string) (string, error) {
	first, _ := endsOf(moments, text)
	return t.Canonical(first)
}

// covers reports whether a range of times is a whole period.
func covers(low, high, period string) bool {
	parse := func(text string) time.Time {
		at, _ := time.Parse(time.RFC3339Nano, text) // a zero high end covers nothing
		return at
	}
	from, to := endsOf(moments, period)
	first, _ := endsOf(moments, low)
	_, last := endsOf(moments, high)
	return !parse(first).After(parse(from)) && !parse(last).Before(parse(to))
}
