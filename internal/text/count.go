package text

import (
	"math"
	"strconv"
	"strings"
)

// Count returns a number with a noun, such as "1 row" or "2,000 rows"; see [Plural].
func Count[N int | int64 | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(n) + " " + Plural(noun)
}

// Amount returns a formatted number with a noun that agrees with it, such as "1 read unit" or "2.5 read units".
func Amount(figure, noun string) string {
	if figure == "1" {
		return "1 " + noun
	}
	return figure + " " + Plural(noun)
}

// Plural returns the plural of a noun.
func Plural(noun string) string {
	if stem, ok := strings.CutSuffix(noun, "y"); ok && stem != "" &&
		!strings.ContainsRune("aeiou", rune(stem[len(stem)-1])) {
		return stem + "ies"
	}
	for _, end := range []string{"s", "x", "ch", "sh"} {
		if strings.HasSuffix(noun, end) {
			return noun + "es"
		}
	}
	return noun + "s"
}

// Agree returns the word one if n is 1, otherwise the word many.
func Agree(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Thousands returns a number with commas, such as 1,234,567.
func Thousands[N int | int64 | uint64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	if n > 0 {
		s = strconv.FormatUint(uint64(n), 10)
	}
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Figure formats a number with three significant digits, such as 0.0123 or 12.3, or from 1,000 on as a whole number,
// such as 12,345.
func Figure(f float64) string {
	if math.Abs(f) >= 999.5 && math.Abs(f) < 1e18 { // 999.5 rounds up to 1,000
		return Thousands(int64(math.Round(f)))
	}
	v, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 3, 64), 64)
	if err != nil {
		v = f
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Size formats a number of bytes in a suitable unit. Units are powers of 1,024, like the service's limits: 512 bytes,
// 15.5 KB, 59.2 GB.
func Size[N int | int64 | float64](n N) string {
	f := float64(n)
	for i, unit := range []string{"KB", "MB", "GB", "TB", "PB"} {
		// Sizes below 10 KB are shown in bytes, which is exact. A size that rounds up to 1,024 of a unit is shown in
		// the next unit.
		unitBytes := math.Pow(1024, float64(i+1))
		if f < 10*1024 {
			break
		}
		if q := f / unitBytes; math.Round(q*10)/10 < 1024 || unit == "PB" {
			return strconv.FormatFloat(math.Round(q*10)/10, 'f', -1, 64) + " " + unit
		}
	}
	return Count(int(math.Round(f)), "byte")
}

// Percent formats a share, such as 0.25, as a percentage.
func Percent(share float64) string {
	if share > 0 && share < 0.001 {
		return "less than 0.1%"
	}
	return strconv.FormatFloat(math.Round(1000*share)/10, 'f', -1, 64) + "%"
}

// Join joins words like a list in a sentence: a, b and c. The conjunction is "and" or "or".
func Join(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}
