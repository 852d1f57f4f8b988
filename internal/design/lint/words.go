package lint

import (
	"slices"
	"strings"
	"unicode"
)

// wordsOf returns the words of a name in lower case: those of orderStatus,
// order_status and OrderStatus are order and status.
func wordsOf(name string) (all []string) {
	begin, runes := 0, []rune(name)
	add := func(end int) {
		if end > begin {
			all = append(all, strings.ToLower(string(runes[begin:end])))
		}
		begin = end
	}
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			add(i)
			begin = i + 1
		case i > 0 && unicode.IsUpper(r) &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			add(i)
		}
	}
	add(len(runes))
	return all
}

// hasWord reports whether a name has one of some words.
func hasWord(name string, among ...string) bool {
	return slices.ContainsFunc(wordsOf(name), func(word string) bool { return slices.Contains(among, word) })
}
