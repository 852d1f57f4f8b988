package markup

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s with what a reader would not see or be misled by written
// out, as [Writer.Text] does, and the ends of its lines as spaces.
func Visible(s string) string { return visible(s, false) }

// visible writes out what has no look of its own. With lines, ends of lines and
// tabs stay.
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
