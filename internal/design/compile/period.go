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

// whole replaces each period in a condition on a time by its first or last moment, as the operator requires. A
// condition with = becomes a BETWEEN, which matches all times of the period; > matches only times after its last
// moment.
func whole(w model.Condition, t keys.Type) model.Condition {
	if len(w.Args) == 0 {
		return w
	}

	first := func(text string) string {
		if at, _, ok := Period(t, text); ok {
			return at
		}
		return text
	}

	last := func(text string) string {
		if _, at, ok := Period(t, text); ok {
			return at
		}
		return text
	}
	switch w.Op {
	case ast.Equal:
		if from, to, ok := Period(t, w.Args[0]); ok {
			w.Op, w.Args = ast.OpBetween, []string{from, to}
		}
	case ast.OpBetween:
		w.Args = []string{first(w.Args[0]), last(w.Args[1])}
	case ast.Less, ast.GreaterOrEqual:
		w.Args = []string{first(w.Args[0])}
	case ast.LessOrEqual, ast.Greater:
		w.Args = []string{last(w.Args[0])}
	}
	return w
}

// periodOf returns the period of type t, such as a date, that contains a time or a shorter period.
func periodOf(t keys.Type, text string) (string, error) {
	if at, _, ok := Period(keys.Type{Name: "nanos"}, text); ok {
		text = at
	}
	return t.Canonical(text)
}

// covers reports whether a range of times is a whole period.
func covers(low, high, period string) bool {
	all := keys.Type{Name: "nanos"}
	moments := func(text string) (first, last time.Time) {
		from, to, ok := Period(all, text)
		if !ok {
			from, to = text, text
		}
		first, err1 := time.Parse(time.RFC3339Nano, from)
		last, err2 := time.Parse(time.RFC3339Nano, to)
		if err1 != nil || err2 != nil {
			return time.Time{}, time.Time{}
		}
		return first, last
	}
	from, to := moments(period)
	first, _ := moments(low)
	_, last := moments(high)
	return !first.After(from) && !last.Before(to) && !last.IsZero()
}
