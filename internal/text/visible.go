package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible returns s with escapes for invisible and misleading characters: control characters, marks that change the
// direction of text, and bytes that are not UTF-8. Line breaks and tabs become spaces.
func Visible(s string) string { return visible(s, false) }

// VisibleLines is [Visible] for text of several lines: it keeps line breaks and tabs.
func VisibleLines(s string) string { return visible(s, true) }

func visible(s string, lines bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02X`, s[i])
		case unicode.IsPrint(r), r == '\u00a0', lines && (r == '\n' || r == '\t'):
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

// VisibleJSON writes invisible characters in the strings of a JSON text as JSON escapes, so that people can see them
// and programs read the same JSON. It keeps line breaks.
func VisibleJSON(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
