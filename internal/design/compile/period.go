package compile

import (
	"slices"
	"time"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/keys"
)

// precision returns the index in [model.Units] of a type's unit. For times that are more precise than all units, it
// returns len(model.Units). It returns false for types that are not times.
func precision(t keys.Type) (int, bool) {
	unit := slices.IndexFunc(model.Units, func(u model.Unit) bool { return u.Name == t.Name })
	if unit < 0 && model.Moment(t) {
		unit = len(model.Units)
	}
	return unit, unit >= 0
}

// Period returns the first and the last moment, in RFC 3339 form, of the period that text names, such as the month
// 2026-01. It returns false if text names none, or one that is no longer than a value of type t. For epoch types, a
// year is no period.
func Period(t keys.Type, text string) (first, last string, ok bool) {
	units, ok := precision(t)
	if !ok {
		return "", "", false
	}
	for i, u := range model.Units[:units] {
		if i == 0 && (t.Name == "epoch" || t.Name == "epochms") {
			continue // values of these types are numbers, so 2026 is a moment, not a year
		}
		if at, err := time.Parse(u.Layout, text); err == nil {
			return at.Format(time.RFC3339), u.Next(at).Add(-1).Format(time.RFC3339Nano), true
		}
	}
	return "", "", false
}

// endsOf returns the first and the last moment of a period, as [Period] does. If text is not such a period, it
// returns text for both.
func endsOf(t keys.Type, text string) (first, last string) {
	if first, last, ok := Period(t, text); ok {
		return first, last
	}
	return text, text
}

// whole replaces each period in a condition on a time by the first or the last moment of the period, depending on the
// operator. A condition with = becomes a BETWEEN, which matches all times of the period. A condition with > matches
// only times after the last moment.
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

// moments is the type of the most precise times. Period accepts periods of every unit for it.
var moments = keys.Type{Name: "nanos"}

// periodOf returns the period of type t, such as a date, that contains a time or a shorter period.
func periodOf(t keys.Type, text string) (string, error) {
	first, _ := endsOf(moments, text)
	return t.Canonical(first)
}

// covers reports whether the range from low to high contains a whole period.
func covers(low, high, period string) bool {
	parse := func(text string) time.Time {
		// an empty bound becomes the zero time, so a range without a high end covers nothing
		at, _ := time.Parse(time.RFC3339Nano, text)
		return at
	}
	from, to := endsOf(moments, period)
	first, _ := endsOf(moments, low)
	_, last := endsOf(moments, high)
	return !parse(first).After(parse(from)) && !parse(last).Before(parse(to))
}
