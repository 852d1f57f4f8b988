package text

import "strings"

// Nearest returns the known name that is most similar to a wrong one, or false if none is similar enough.
func Nearest(name string, known []string) (nearest string, ok bool) {
	least := len(name)/3 + 2
	for _, k := range known {
		if d := Distance(strings.ToLower(name), strings.ToLower(k)); d < least {
			nearest, least, ok = k, d, true
		}
	}
	return nearest, ok
}

// DidYouMean returns advice for an unknown name: the most similar known name, or else a list of known names. If known
// is empty, it returns "".
func DidYouMean(name string, known []string) string {
	const most = 12
	nearest, ok := Nearest(name, known)
	switch {
	case ok:
		return "did you mean " + nearest + "?"
	case len(known) == 0:
		return ""
	case len(known) > most:
		return "known names: " + strings.Join(known[:most], ", ") + ", …"
	}
	return "known names: " + strings.Join(known, ", ")
}

// Distance returns the optimal string alignment distance of a and b: the least number of edits that turn a into b. An
// edit inserts, deletes or replaces a byte, or swaps two neighbours. If a or b has more than 64 bytes, Distance
// returns the length of the longer one, which is the largest possible distance.
func Distance(a, b string) int {
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
