package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// A sense says what people take the values of a component for, such as numbers. They therefore expect the order that
// compare defines.
type sense struct {
	name    string // for sentences
	compare func(a, b string) int
	// low and high are invented values that sort in the unexpected order. They are "" if such values need not exist.
	low, high string
	// certain is true if people expect the order even if no pattern needs it. unsure is true if the values may also
	// be ids, which often look like this; the rule then reports them only if a pattern needs the order.
	certain, unsure bool
	cure            string
	// a type with which such values sort as expected; if set, the advice gives it instead of cure
	typ string
}

// level and number are names of senses. level is for words on a scale, such as low and high.
const (
	level  = "a level"
	number = "a number"
)

// senseOf returns the first sense that fits all values of a component.
func senseOf(c Component, words []Written) (sense, bool) {
	all := func(is func(string) bool) bool { return allAre(words, is) }
	switch scale := scaleOf(words); {
	case all(isMoment):
		return times(words)
	case c.Type.Name == "number" || all(isNumber):
		return numbers(c, words)
	case scale != nil:
		return sense{
			name: level, compare: func(a, b string) int { return scale[lower(a)] - scale[lower(b)] },
			cure: "write the place in the scale before the word: 1-" + first(words, scale),
		}, true
	case all(hasDigit) && sameFrame(words) && (len(words) > 1 || all(partedText().MatchString)):
		s := sense{name: "a number inside text", compare: text.CompareNatural, certain: all(certainText().MatchString)}
		s.unsure = !s.certain
		if one := words[0].Text; len(words) == 1 && oneDigit().MatchString(one) {
			s.low, s.high = oneDigit().ReplaceAllString(one, "${1}10"), one
			words = append(slices.Clone(words), Written{Text: s.low})
		}
		width := 1
		if all(addressText().MatchString) {
			width = 3 // the numbers of an address go up to 255
		}
		s.cure = "write all numbers in it with one width, padded with zeros, such as " + padded(words, width)
		return s, true
	case all(isAmount):
		return sense{
			name: "an amount", compare: compareAmounts, unsure: all(hexText().MatchString),
			cure: "write the number alone, in one unit and without separators, padded with zeros",
		}, true
	case all(hexText().MatchString) && slices.ContainsFunc(words, func(w Written) bool { return hasDigit(w.Text) }):
		return sense{
			name: "hexadecimal", unsure: true, cure: "pad the values to one length",
			compare: func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(lower(a), lower(b))) },
		}, true
	case all(func(s string) bool { return !hasDigit(s) }) && len(c.Type.Values) == 0:
		return sense{
			name: "text", compare: func(a, b string) int { return strings.Compare(lower(a), lower(b)) }, certain: true,
			cure: fmt.Sprintf("write %s in one case, without characters that sort below the delimiter, and keep "+
				"the original text in another attribute", c),
		}, true
	}
	return sense{}, false
}

var (
	numberText = text.Pattern(`^-?[0-9]+(\.[0-9]+)?$`)
	amountText = text.Pattern(`^(-?[0-9][0-9,]*(?:\.[0-9]+)?) ?([A-Za-z]*)$`)
	hexText    = text.Pattern(`^(0[xX])?[0-9a-fA-F]+$`)
	digits     = text.Pattern(`[0-9]+`)

	// certainText matches weeks and months of a year, and versions of three numbers. partedText also matches IP
	// addresses. oneDigit matches text whose last number has one digit. A larger number of two digits could sort
	// before it.
	certainText = text.Pattern(`^((19|20)\d\d-?[Ww]?\d{1,2}|[vV]?\d+\.\d+\.\d+)$`)
	partedText  = text.Pattern(`^((19|20)\d\d-[Ww]?\d{1,2}|[vV]?\d+(\.\d+){2,3})$`)
	addressText = text.Pattern(`^\d{1,3}(\.\d{1,3}){3}$`)
	oneDigit    = text.Pattern(`([-.Ww])[2-9]$`)
)

func lower(s string) string  { return strings.ToLower(s) }
func isNumber(s string) bool { return numberText().MatchString(s) }
func hasDigit(s string) bool { return strings.ContainsFunc(s, unicode.IsDigit) }

func compareNumbers(a, b string) int {
	c, _ := keys.Type{Name: "number"}.Compare(a, b) // for Compare, text that is not a number equals any number
	return c
}

// units maps a unit, in lower case, to the number that it stands for. Units of bytes cannot be compared with units of
// time, but a key does not mix them.
var units = map[string]float64{
	"": 1, "b": 1, "k": 1e3, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
	"ms": 1e-3, "s": 1, "sec": 1, "min": 60, "h": 3600, "d": 86400,
}

// amountOf returns the worth of a number that may have a unit and commas between thousands, such as 1,000 or 5KB.
func amountOf(s string) (worth float64, ok bool) {
	parts := amountText().FindStringSubmatch(s)
	if parts == nil {
		return 0, false
	}
	unit, ok := units[lower(parts[2])]
	n, err := strconv.ParseFloat(strings.ReplaceAll(parts[1], ",", ""), 64)
	return n * unit, ok && err == nil
}

func isAmount(s string) bool { _, ok := amountOf(s); return ok }

func compareAmounts(a, b string) int {
	x, _ := amountOf(a)
	y, _ := amountOf(b)
	return cmp.Compare(x, y)
}

// times returns the sense of times, if the layout of one of them does not sort in order of time. If all layouts sort
// in order of time but differ, checkFormats reports them.
func times(words []Written) (s sense, ok bool) {
	for _, w := range words {
		at, layout, _ := momentOf(w.Text)
		if s.low, s.high, ok = unordered(layout); !ok {
			continue
		}
		s.name, s.certain = "a time", true
		s.compare = func(a, b string) int {
			x, _, _ := momentOf(a)
			y, _, _ := momentOf(b)
			return x.Compare(y)
		}
		switch {
		case !strings.Contains(layout, "2006"): // a time of day, for which there is no type
			s.cure = "write the hours up to 23 with leading zeros, such as " + at.Format("15:04")
		case strings.Contains(layout, "Q"):
			s.cure = "write the year first, such as " + at.Format("2006-Q1")
		case strings.Contains(layout, ":"):
			s.typ = "time"
		case strings.Count(layout, "-") == 1:
			s.typ = "month"
		default:
			s.typ = "date"
		}
		return s, true
	}
	return s, false
}

// unordered returns two times, written in a layout, that sort in the wrong order: low is the later time, but sorts
// first. It returns false if the layout sorts in order of time.
func unordered(layout string) (low, high string, ok bool) {
	for _, at := range []time.Time{
		time.Date(2025, 9, 30, 9, 0, 0, 0, time.UTC), time.Date(2025, 9, 30, 10, 0, 0, 0, time.UTC),
		time.Date(2025, 10, 2, 13, 0, 0, 0, time.UTC), time.Date(2026, 2, 1, 14, 0, 0, 0, time.UTC),
	} {
		low = at.Format(layout)
		if low < high && !strings.HasSuffix(layout, sinceEpoch) {
			return low, high, true
		}
		high = low
	}
	return "", "", false
}

// numbers returns the sense of numbers written as text, with the type that sorts them by value. It returns false if
// their text sorts by value now and will do so in future. For this, all must have the same number of digits. In
// addition, the model must limit the values, or the numbers must be years or padded with zeros.
func numbers(c Component, words []Written) (sense, bool) {
	values := make([]string, 0, len(words))
	for _, w := range words {
		values = append(values, w.Text)
	}
	f := c.Entity.Field(c.Name)
	if f != nil {
		values = append(append(values, f.Values...), f.From, f.To)
	}

	least, most, decimals := 0, 0, 0
	negative, padded, year := false, false, true
	for _, value := range values {
		if !isNumber(value) {
			continue
		}
		whole, fraction, _ := strings.Cut(strings.TrimPrefix(value, "-"), ".")
		if least == 0 || len(whole) < least {
			least = len(whole)
		}
		most, decimals = max(most, len(whole)), max(decimals, len(fraction))
		negative = negative || value[0] == '-'
		padded = padded || len(whole) > 1 && whole[0] == '0'
		n, _ := strconv.Atoi(whole)
		year = year && 1900 <= n && n <= 2100
	}

	typed := c.Type.Name == "number"
	limited := f != nil && (len(f.Values) > 0 || f.From != "" && f.To != "")
	s := sense{
		name: number, compare: compareNumbers,
		certain: typed || padded && least < most, // an author who pads some numbers intends the order
	}
	switch width := max(most+2, 4); {
	case decimals > 0:
		s.typ = fmt.Sprintf("decimal(%d,%d)", width, decimals)
	case limited && most > 0:
		s.typ = fmt.Sprintf("int(%d)", most)
	case negative:
		s.typ = fmt.Sprintf("signed(%d)", width)
	default:
		s.typ = fmt.Sprintf("int(%d)", width)
	}

	oneWidth := most > 0 && least == most && !negative
	switch {
	case oneWidth && (limited || year || padded):
		return s, false
	case negative:
		s.low, s.high = "-1", "-2"
	case !padded && (typed || oneWidth && most < 4 && !limited):
		s.low, s.high = "10", "9"
	}
	return s, true
}

// sameFrame reports whether the texts differ only in their digits.
func sameFrame(words []Written) bool {
	frame := func(w Written) string { return digits().ReplaceAllString(w.Text, "0") }
	return !slices.ContainsFunc(words, func(w Written) bool { return frame(w) != frame(words[0]) })
}

// padded pads the numbers in the shortest text with zeros, as an example. It gives each number the width of the
// longest number at the same place in any of the texts, and at least the width least.
func padded(words []Written, least int) string {
	var widths []int
	shortest := words[0].Text
	for _, w := range words {
		for i, run := range digits().FindAllString(w.Text, -1) {
			if i == len(widths) {
				widths = append(widths, least)
			}
			widths[i] = max(widths[i], len(run))
		}
		if len(w.Text) < len(shortest) {
			shortest = w.Text
		}
	}
	i := -1
	return digits().ReplaceAllStringFunc(shortest, func(run string) string {
		i++
		return strings.Repeat("0", widths[i]-len(run)) + run
	})
}

// scales lists words in the order of their meaning. A slash separates words with the same meaning.
var scales = []string{
	"none trivial/lowest/minimal low/minor medium/normal/moderate high/major/important highest/critical/urgent blocker",
	"xxs xs/tiny s/small m/medium l/large xl xxl/huge",
	"trace debug info/notice warn/warning error fatal",
	"free/basic bronze/starter silver/standard gold/pro platinum/enterprise",
	"beginner/junior intermediate advanced/senior expert",
	"monday/mon tuesday/tue wednesday/wed thursday/thu friday/fri saturday/sat sunday/sun",
	"january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sep october/oct " +
		"november/nov december/dec",
}

// scaleOf returns the positions of words in the first scale that has all of them, or nil.
func scaleOf(words []Written) map[string]int {
	for _, scale := range scales {
		places := map[string]int{}
		for i, alike := range strings.Fields(scale) {
			for word := range strings.SplitSeq(alike, "/") {
				places[word] = i
			}
		}
		missing := func(w Written) bool { _, ok := places[lower(w.Text)]; return !ok }
		if len(words) > 1 && !slices.ContainsFunc(words, missing) {
			return places
		}
	}
	return nil
}

// first returns the word with the lowest place on the scale.
func first(words []Written, scale map[string]int) string {
	place := func(w Written) int { return scale[lower(w.Text)] }
	return slices.MinFunc(words, func(a, b Written) int { return place(a) - place(b) }).Text
}
