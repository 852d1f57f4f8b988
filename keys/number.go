package keys

import (
	"strconv"
	"strings"
)

// A decimal is a number without leading and trailing zeros. Zero has no digits
// and is not negative.
type decimal struct {
	neg         bool
	whole, frac string
}

// The least and greatest exponent that DynamoDB allows for the first digit of a number.
const (
	lowestExponent  = -130
	highestExponent = 125
)

// parseDecimal parses an optional sign, digits with an optional point, and an
// optional exponent.
func parseDecimal(text string) (decimal, bool) {
	d := decimal{}
	s := text
	if s != "" && (s[0] == '-' || s[0] == '+') {
		d.neg = s[0] == '-'
		s = s[1:]
	}
	exponent := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		n, err := strconv.ParseInt(s[i+1:], 10, 16)
		if err != nil {
			return d, false
		}
		s, exponent = s[:i], int(n)
	}

	whole, frac, point := strings.Cut(s, ".")
	if whole+frac == "" || point && frac == "" || !onlyDigits(whole) || !onlyDigits(frac) {
		return d, false
	}
	if exponent != 0 {
		whole, frac = shift(whole, frac, exponent)
	}
	d.whole, d.frac = strings.TrimLeft(whole, "0"), strings.TrimRight(frac, "0")
	if d.whole == "" && d.frac == "" {
		d.neg = false
	}
	return d, true
}

// shift moves the decimal point n digits to the right, or -n digits to the left if n is negative. parseDecimal
// accepts only exponents of 16 bits, so the result has at most 32,768 digits more.
func shift(whole, frac string, n int) (string, string) {
	if n > 0 {
		frac += strings.Repeat("0", max(0, n-len(frac)))
		return whole + frac[:n], frac[n:]
	}
	n = -n
	whole = strings.Repeat("0", max(0, n-len(whole))) + whole
	return whole[:len(whole)-n], whole[len(whole)-n:] + frac
}

func onlyDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// String returns the canonical text: 0, 7, -3.5, 0.25.
func (d decimal) String() string {
	s := d.whole
	if s == "" {
		s = "0"
	}
	if d.frac != "" {
		s += "." + d.frac
	}
	if d.neg {
		s = "-" + s
	}
	return s
}

func (d decimal) compare(e decimal) int {
	switch {
	case d.neg && e.neg:
		return e.abs().compare(d.abs())
	case d.neg:
		return -1
	case e.neg:
		return 1
	case len(d.whole) != len(e.whole):
		return len(d.whole) - len(e.whole)
	case d.whole != e.whole:
		return strings.Compare(d.whole, e.whole)
	}
	return strings.Compare(d.frac, e.frac)
}

func (d decimal) abs() decimal { return decimal{whole: d.whole, frac: d.frac} }

// compareNumbers compares canonical numbers.
func compareNumbers(_ Type, a, b string) int {
	x, _ := parseDecimal(a)
	y, _ := parseDecimal(b)
	return max(-1, min(1, x.compare(y)))
}

// wholeNumber parses an integer of at most t.Width digits.
func wholeNumber(t Type, text string) (decimal, error) {
	d, ok := parseDecimal(text)
	switch {
	case !ok:
		return d, invalid(t, text, "is not a number", "write it in digits, as 42")
	case d.frac != "":
		return d, invalid(t, text, "has a fraction", "use decimal(w,s), which keeps fractions")
	case len(d.whole) > t.Width:
		return d, invalid(t, text, "has more than "+count(t.Width),
			"choose a width that fits the largest value there will ever be: "+
				"keys of different widths do not sort by value")
	}
	return d, nil
}

func canonicalInt(t Type, text string) (string, error) {
	d, err := wholeNumber(t, text)
	if err != nil {
		return "", err
	}
	if d.neg {
		return "", invalid(t, text, "is negative", "use signed(w), which sorts negative numbers")
	}
	return d.String(), nil
}

func encodeInt(t Type, text string) (string, error) { return pad(text, t.Width), nil }

func decodeInt(_ Type, part string) (string, error) { return trimZeros(part), nil }

func canonicalSigned(t Type, text string) (string, error) {
	d, err := wholeNumber(t, text)
	return d.String(), err
}

func canonicalDecimal(t Type, text string) (string, error) {
	d, ok := parseDecimal(text)
	switch {
	case !ok:
		return "", invalid(t, text, "is not a number", "write it in digits, as 12.5")
	case len(d.whole) > t.Width:
		return "", invalid(t, text, "has more than "+count(t.Width)+" before the point",
			"choose a width that fits the largest value there will ever be: "+
				"keys of different widths do not sort by value")
	case len(d.frac) > t.Scale:
		return "", invalid(
			t, text, "has more than "+count(t.Scale)+" after the point", "round the value, or use a larger scale",
		)
	}
	return d.String(), nil
}

// encodeSigned writes 1 for a number from 0 on, or 0 for a negative one, and then the digits. It complements the
// digits of a negative number, so that -2 sorts before -1.
func encodeSigned(t Type, text string) (string, error) {
	d, _ := parseDecimal(text)
	digits := pad(d.whole, t.Width)
	if t.Scale > 0 {
		digits += "." + d.frac + strings.Repeat("0", t.Scale-len(d.frac))
	}
	if d.neg {
		return "0" + complement(digits), nil
	}
	return "1" + digits, nil
}

func decodeSigned(t Type, part string) (string, error) {
	if len(part) < 2 || part[0] != '0' && part[0] != '1' {
		return "", errPart
	}
	sign, digits := "", part[1:]
	if part[0] == '0' {
		sign, digits = "-", complement(digits)
	}
	return sign + digits, nil
}

func decimalWidth(t Type) int {
	if t.Scale == 0 {
		return 1 + t.Width
	}
	return 1 + t.Width + 1 + t.Scale
}

// canonicalNumber returns the canonical text of a number. It refuses a number that DynamoDB cannot store.
func canonicalNumber(t Type, text string) (string, error) {
	d, ok := parseDecimal(text)
	if !ok {
		return "", invalid(t, text, "is not a number", "write it in digits, as -3.5")
	}
	all := d.whole + d.frac
	significant := strings.Trim(all, "0")
	if len(significant) > maxDigits {
		return "", invalid(
			t, text, "has more than "+strconv.Itoa(maxDigits)+" significant digits",
			"round it: the service keeps no more",
		)
	}

	first := len(d.whole) - 1 // the exponent of the first digit
	if d.whole == "" {
		first = len(strings.TrimLeft(d.frac, "0")) - len(d.frac) - 1
	}
	if significant != "" && (first > highestExponent || first < lowestExponent) {
		return "", invalid(
			t, text, "is not in the range of the service's numbers",
			"use a number between 1E-130 and 9.99E+125, zero, or the same below zero",
		)
	}
	return d.String(), nil
}

// pad pads digits with zeros on the left to width.
func pad(digits string, width int) string {
	return strings.Repeat("0", max(0, width-len(digits))) + digits
}

func trimZeros(digits string) string {
	if s := strings.TrimLeft(digits, "0"); s != "" {
		return s
	}
	return "0"
}

// count returns n with the word digit or digits.
func count(n int) string {
	if n == 1 {
		return "1 digit"
	}
	return strconv.Itoa(n) + " digits"
}
