package bench

import "github.com/sortkey/sortkey/bench/work"

// TooMuch says why a table of a number of items of 100 bytes cannot grow to n.
func TooMuch(n, items int) string { return tooMuch(n, work.Shape{Items: items, Size: 100}) }
