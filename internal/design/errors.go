package design

import (
	"cmp"
	"slices"
	"strings"
)

// A ParseError is something wrong in a model file: what, where, and what to do
// about it.
type ParseError struct {
	Pos Pos
	Msg string
	// Hint is the advice; it may be empty.
	Hint string
}

// Error returns the place and what is wrong, without the advice.
func (e *ParseError) Error() string { return e.Pos.String() + ": " + e.Msg }

// Errors are all that is wrong with a model, in the order of the file.
type Errors []*ParseError

// Error returns a line for each error, its advice in a line of its own.
func (e Errors) Error() string {
	var b strings.Builder
	for i, err := range e {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(err.Error())
		if err.Hint != "" {
			b.WriteString("\n  hint: " + err.Hint)
		}
	}
	return b.String()
}

// Unwrap returns the errors one by one.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, err := range e {
		all[i] = err
	}
	return all
}

func (e Errors) sort() {
	slices.SortStableFunc(e, func(a, b *ParseError) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
}

// nearest returns the advice that names the known name most like the unknown
// one, or lists what there is.
func nearest(name string, known []string) string {
	best, least := "", len(name)/3+2
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	switch {
	case best != "":
		return "did you mean " + best + "?"
	case len(known) == 0:
		return ""
	case len(known) > 12:
		return "known are " + strings.Join(known[:12], ", ") + ", …"
	}
	return "known are " + strings.Join(known, ", ")
}

// similar returns the known name that differs from name by one slip, or "".
// Names that differ in their numbers are meant: line1 and line2.
func similar(name string, known []string) string {
	bare := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return -1
			}
			return r
		}, s)
	}
	for _, k := range known {
		if len(name) > 3 && bare(name) != bare(k) && (distance(name, k) == 1 || strings.EqualFold(name, k)) {
			return k
		}
	}
	return ""
}

// distance is the number of bytes to insert, delete, replace or swap with
// their neighbour to make b of a. Long names are as far apart as can be.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return max(len(a), len(b))
	}
	var before, prev, row [65]int
	for j := range len(b) + 1 {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev = prev, row
	}
	return prev[len(b)]
}
