package text

import (
	"cmp"
	"strings"
)

// CompareNatural compares texts as people do: numbers in them by value, the rest byte by byte. So 9 sorts before 10,
// 10.0.0.9 before 10.0.0.10, and W9 before W10.
func CompareNatural(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x == 0 || y == 0 {
			if a[0] != b[0] {
				return cmp.Compare(a[0], b[0])
			}
			a, b = a[1:], b[1:]
			continue
		}

		m, n := strings.TrimLeft(a[:x], "0"), strings.TrimLeft(b[:y], "0")
		if order := cmp.Or(cmp.Compare(len(m), len(n)), cmp.Compare(m, n)); order != 0 {
			return order
		}
		a, b = a[x:], b[y:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits returns the number of digits at the beginning of a text.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
