package wire

import "strings"

// patterns maps each regular expression of the service model to a function that matches it. The package does not use
// regexp, which would make up a twentieth of a small program that embeds the store.
var patterns = map[string]func(string) bool{
	namePattern:  IsName,
	`[0-9]{12}`:  func(s string) bool { return len(s) == 12 && isAll(s, isDigit) },
	`[,;:|\t ]`:  func(s string) bool { return len(s) == 1 && strings.Contains(",;:|\t ", s) },
	`^[^\$]+$`:   func(s string) bool { return s != "" && !strings.Contains(s, "$") },
	`\p{Print}+`: func(s string) bool { return s != "" && isAll(s, func(r rune) bool { return r >= ' ' }) },
	`([0-9a-f]{16})+`: func(s string) bool {
		return s != "" && len(s)%16 == 0 && isAll(s, func(r rune) bool { return isDigit(r) || 'a' <= r && r <= 'f' })
	},
	`[\x20-\x21\x23-\x2B\x2D-\x7E]*`: func(s string) bool {
		return isAll(s, func(r rune) bool { return ' ' <= r && r <= '~' && r != '"' && r != ',' })
	},
	// The pattern of the model is for UTF-16. Its surrogates stand for characters above U+FFFF.
	`[\u0020-\uD7FF\uE000-\uFFFD\uD800\uDC00-\uDBFF\uDFFF\r\n\t]*`: func(s string) bool {
		return isAll(s, func(r rune) bool {
			return r >= ' ' && r != '\uFFFE' && r != '\uFFFF' || r == '\r' || r == '\n' || r == '\t'
		})
	},
	`^[a-z0-9A-Z]+[\.\-\w]*[a-z0-9A-Z]+$`: func(s string) bool {
		return len(s) > 1 && IsName(s) && !strings.ContainsAny(s[:1]+s[len(s)-1:], "._-")
	},
}

// isAll reports whether is returns true for each character of s.
func isAll(s string, is func(rune) bool) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return !is(r) })
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }
