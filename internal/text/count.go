package text

import (
	"math"
	"strconv"
	"strings"
)

// Count returns a number of things, as "1 row" or "2,000 rows". A noun that
// ends in a consonant and y becomes one in ies.
func Count[N int | int64 | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(n) + " " + Plural(noun)
}

// Plural returns the plural of a noun.
func Plural(noun string) string {
	if stem, ok := strings.CutSuffix(noun, "y"); ok && stem != "" && !strings.ContainsRune("aeiou", rune(stem[len(stem)-1])) {
		return stem + "ies"
	}
	for _, end := range []string{"s", "x", "ch", "sh"} {
		if strings.HasSuffix(noun, end) {
			return noun + "es"
		}
	}
	return noun + "s"
}

// Thousands returns a number with its thousands apart, as 1,234,567.
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

// Figure returns a quantity with three digits that count, as 0.0123, 12.3 or
// 12,345.
func Figure(f float64) string {
	if math.Abs(f) >= 1000 && math.Abs(f) < 1e15 {
		return Thousands(int64(math.Round(f)))
	}
	v, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 3, 64), 64)
	if err != nil {
		v = f
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Size returns a number of bytes in the unit that fits it, in powers of 1,024 as
// the service's limits are: 512 bytes, 1.5 KB, 59.2 GB.
func Size[N int | int64 | float64](n N) string {
	f := float64(n)
	for i, unit := range []string{"KB", "MB", "GB", "TB", "PB"} {
		// From 10 KB on, so that smaller sizes stay exact; what rounds up to
		// the next unit is written in that one.
		bytes := math.Pow(1024, float64(i+1))
		if f < 10*1024 {
			break
		}
		if q := f / bytes; math.Round(q*10)/10 < 1024 || unit == "PB" {
			return strconv.FormatFloat(math.Round(q*10)/10, 'f', -1, 64) + " " + unit
		}
	}
	return Count(int(math.Round(f)), "byte")
}

// Percent returns a share of 1 in percent.
func Percent(share float64) string {
	if share > 0 && share < 0.001 {
		return "less than 0.1%"
	}
	return strconv.FormatFloat(math.Round(1000*share)/10, 'f', -1, 64) + "%"
}

// Join returns words as a sentence lists them: a, b and c.
func Join(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}
