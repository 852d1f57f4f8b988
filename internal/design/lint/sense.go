package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keys"
)

// A sense is what people take the values of a component for, such as numbers, and the order that they therefore
// expect.
type sense struct {
	name    string // for sentences
	compare func(a, b string) int
	// low and high are example values that sort the wrong way round, or "" if such values need not exist.
	low, high string
	// certain is true if people expect the order even if no pattern needs it. unsure is true if many ids look like
	// these values, so that the rule reports them only if a pattern needs the order.
	certain, unsure bool
	cure            string
	width           string // the type that sorts numbers by value; the advice gives it instead of cure
}

// level is the name of the sense of words on a scale, such as low and high.
const level = "a level"

// senseOf returns the first sense that fits all values of a component.
func senseOf(c Component, words []Written) (sense, bool) {
	all := func(is func(string) bool) bool {
		return len(words) > 0 && !slices.ContainsFunc(words, func(w Written) bool { return !is(w.Text) })
	}

	switch scale := scaleOf(words); {
	case all(isMoment): // checkFormats reports these
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
		s.cure = "write all numbers in it with one width, padded with zeros, such as " + padded(words)
		return s, true
	case all(hexText().MatchString) &&
		slices.ContainsFunc(words, func(w Written) bool { return hasDigit(w.Text) }):
		return sense{
			name: "an id of two lengths", unsure: true, cure: "pad the ids to one length",
			compare: func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) },
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
	hexText    = text.Pattern(`^(0[xX])?[0-9a-fA-F]+$`)
	digits     = text.Pattern(`[0-9]+`)

	// certainText matches weeks and months of a year, and versions of three numbers. partedText also matches IP
	// addresses. oneDigit matches text whose last number has one digit; a number of two digits could sort before it.
	certainText = text.Pattern(`^((19|20)\d\d-?[Ww]?\d{1,2}|[vV]?\d+\.\d+\.\d+)$`)
	partedText  = text.Pattern(`^((19|20)\d\d-[Ww]?\d{1,2}|[vV]?\d+(\.\d+){2,3})$`)
	oneDigit    = text.Pattern(`([-.Ww])[2-9]$`)
)

func lower(s string) string  { return strings.ToLower(s) }
func isNumber(s string) bool { return numberText().MatchString(s) }
func hasDigit(s string) bool { return strings.ContainsFunc(s, unicode.IsDigit) }

func compareNumbers(a, b string) int {
	c, _ := keys.Type{Name: "number"}.Compare(a, b) // for Compare, text that is not a number equals any number
	return c
}

// numbers returns the sense of numbers written as text, with the type that sorts them by value. It returns false if
// their text already sorts by value and always will. For that, all must have the same number of digits. In addition,
// the model must limit the values, or they must be years or padded with zeros.
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
		name: "a number", compare: compareNumbers,
		certain: typed || padded && least < most, // an author who pads some numbers intends the order
	}
	switch width := max(most+2, 4); {
	case limited && most > 0:
		s.width = fmt.Sprintf("int(%d)", most)
	case negative:
		s.width = fmt.Sprintf("signed(%d)", width)
	default:
		s.width = fmt.Sprintf("int(%d)", width)
	}
	if decimals > 0 {
		s.width = fmt.Sprintf("decimal(%d,%d)", max(most+2, 4), decimals)
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

// padded returns the shortest text with its numbers padded by zeros. Each number gets the width of the longest number
// at its place in any text.
func padded(words []Written) string {
	var widths []int
	shortest := words[0].Text
	for _, w := range words {
		for i, run := range digits().FindAllString(w.Text, -1) {
			if i == len(widths) {
				widths = append(widths, 0)
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

// first returns the word that is lowest on the scale.
func first(words []Written, scale map[string]int) string {
	place := func(w Written) int { return scale[lower(w.Text)] }
	return slices.MinFunc(words, func(a, b Written) int { return place(a) - place(b) }).Text
}
