package keys

import (
	"unicode/utf8"
)

// UTF-8 cannot encode the code points from surrogateMin to surrogateMax.
const (
	surrogateMin = 0xD800
	surrogateMax = 0xDFFF
)

// Successor returns the smallest string greater than every string that begins with prefix. Use it for a range of keys
// that you write by hand; [Template.Under], [Template.Between] and [Template.BeginsWith] return complete ranges.
// Successor returns false when no such string exists: when prefix is empty, has no character but U+10FFFF, or is not
// UTF-8.
//
// Attributes of type S hold UTF-8 and are compared by bytes. So Successor drops trailing U+10FFFF and increments the
// last remaining code point, skipping the surrogates.
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

// below returns a string below key. It is greater than every other string below key that does not contain U+10FFFF, a
// code point that text does not use.
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
