package keys

import (
	"errors"
	"strconv"
	"time"
)

const (
	secondsLayout = "2006-01-02T15:04:05Z"
	millisLayout  = "2006-01-02T15:04:05.000Z"
	// epochDigits is the number of digits that Unix seconds need until the year 2286.
	epochDigits = 10
)

// sample is the time that error messages show as an example.
var sample = time.Date(2026, 1, 5, 10, 0, 0, 0, time.UTC)

var errPart = errors.New("no such part")

// timeKind returns a kind of times in the given layout, in UTC.
func timeKind(name, layout string) *kind {
	return &kind{
		name: name, ordered: true, digits: true,
		canonical: func(t Type, text string) (string, error) {
			at, ok := parseTime(text, layout)
			if !ok {
				return "", notTime(t, text)
			}
			return at.Format(layout), nil
		},
		prefix: func(t Type, text string) (string, error) {
			for i := range len(text) {
				if i >= len(layout) ||
					text[i] != layout[i] && (!onlyDigits(text[i:i+1]) || !onlyDigits(layout[i:i+1])) {
					return "", invalid(
						t, text, "is not the beginning of a time of type "+t.String(),
						"write the beginning of a time such as "+sample.Format(layout)+", in UTC",
					)
				}
			}
			return text, nil
		},
		layout: layout,
		width:  func(Type) int { return len(layout) },
	}
}

// epochKind returns a kind of times written as digits of the seconds or
// milliseconds since 1970. The text form uses layout, so one field can be a
// date in one key and an epoch in another.
func epochKind(name string, digits int, layout string) *kind {
	unit := time.Second
	if digits > epochDigits {
		unit = time.Millisecond
	}
	since := func(at time.Time) int64 {
		if unit == time.Second {
			return at.Unix()
		}
		return at.UnixMilli()
	}

	parse := func(text string) (time.Time, bool) {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			if unit == time.Second {
				return time.Unix(n, 0).UTC(), true
			}
			return time.UnixMilli(n).UTC(), true
		}
		return parseTime(text, layout)
	}

	return &kind{
		name: name, ordered: true, digits: true,
		canonical: func(t Type, text string) (string, error) {
			at, ok := parse(text)
			if !ok {
				return "", notTime(t, text)
			}
			if n := since(at); n < 0 || len(strconv.FormatInt(n, 10)) > digits {
				return "", invalid(t, text, "does not fit into "+strconv.Itoa(digits)+" digits of an epoch",
					"check that the value is in the right unit, or use time or millis, which "+
						"support the years 0 to 9999")
			}
			return at.Format(layout), nil
		},
		encode: func(_ Type, text string) (string, error) {
			at, err := time.Parse(layout, text)
			return pad(strconv.FormatInt(since(at), 10), digits), err
		},
		decode: func(_ Type, part string) (string, error) {
			if len(part) != digits || !onlyDigits(part) {
				return "", errPart
			}
			at, _ := parse(part)
			return at.Format(layout), nil
		},
		layout: layout,
		width:  func(Type) int { return digits },
	}
}

// parseTime parses RFC 3339 with any zone and fraction, a date, which means
// midnight in UTC, or a time in layout. The year of the result has four digits.
func parseTime(text, layout string) (time.Time, bool) {
	for _, l := range []string{layout, time.RFC3339Nano, time.DateOnly} {
		at, err := time.Parse(l, text)
		if err != nil {
			continue
		}
		at = at.UTC()
		return at, at.Year() >= 0 && at.Year() <= 9999
	}
	return time.Time{}, false
}

func notTime(t Type, text string) error {
	advice := "write it as 2026-01-05T10:00:00Z, with Z or a zone such as +01:00"
	switch t.Name {
	case "year":
		advice = "write it as 2026, or a date or time in it"
	case "month":
		advice = "write it as 2026-01, or a date or time in it"
	case "date":
		advice = "write it as 2026-01-05, or a time in it with its zone"
	case "epoch":
		advice += ", or as 1767607200, the seconds since 1970"
	case "epochms":
		advice += ", or as 1767607200000, the milliseconds since 1970"
	}
	for _, l := range []string{"2006-01-02T15:04:05", time.DateTime} {
		if _, err := time.Parse(l, text); err == nil {
			return invalid(t, text, "has no time zone, so it is ambiguous", advice)
		}
	}
	return invalid(t, text, "is not a valid time of type "+t.String(), advice)
}
