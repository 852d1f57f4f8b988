package markup

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s with invisible and misleading characters as escapes, like
// [Writer.Text], and with line breaks as spaces.
func Visible(s string) string { return visible(s, false) }

// visible escapes invisible and misleading characters. If lines is true, it
// keeps line breaks and tabs.
func visible(s string, lines bool) string {
	plain := func(r rune) bool {
		return unicode.IsPrint(r) || r == '\u00a0' || lines && (r == '\n' || r == '\t')
	}
	clean := true
	for _, r := range s {
		if !plain(r) || r == utf8.RuneError {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02X`, s[i])
		case plain(r):
			b.WriteRune(r)
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		default:
			fmt.Fprintf(&b, `\u{%04X}`, r)
		}
		i += n
	}
	return b.String()
}
