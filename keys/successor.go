package keys

import (
	"slices"
	"unicode/utf8"
)

// The code points that UTF-8 has no bytes for.
const (
	surrogateMin = 0xD800
	surrogateMax = 0xDFFF
)

// Successor returns the smallest string that is above every string beginning
// with prefix, and false when there is none: when prefix is empty, all U+10FFFF
// or not UTF-8.
//
// Attributes of type S hold UTF-8 and are compared by bytes, so it is the
// smallest in that order that is UTF-8: prefix with its last code point
// incremented, over the gap of the surrogates, and without those that have no
// next one. [SuccessorBytes] is for attributes of type B.
func Successor(prefix string) (string, bool) {
	if !utf8.ValidString(prefix) {
		return "", false
	}
	for prefix != "" {
		r, size := utf8.DecodeLastRuneInString(prefix)
		prefix = prefix[:len(prefix)-size]
		if r == utf8.MaxRune {
			continue
		}
		r++
		if r == surrogateMin {
			r = surrogateMax + 1
		}
		return prefix + string(r), true
	}
	return "", false
}

// SuccessorBytes returns the smallest bytes that are above all that begin with
// prefix, and false when there are none: when prefix is empty or all 0xFF.
func SuccessorBytes(prefix []byte) ([]byte, bool) {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xFF {
			next := slices.Clone(prefix[:i+1])
			next[i]++
			return next, true
		}
	}
	return nil, false
}

// below returns a string below key that is above every string below key in
// which U+10FFFF, a code point that no text contains, does not occur.
func below(key string) string {
	r, size := utf8.DecodeLastRuneInString(key)
	switch rest := key[:len(key)-size]; r {
	case 0:
		return rest
	case surrogateMax + 1:
		return rest + string(rune(surrogateMin-1)) + string(utf8.MaxRune)
	default:
		return rest + string(r-1) + string(utf8.MaxRune)
	}
}
