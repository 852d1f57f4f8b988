package gen

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// escapes writes an invisible character. quote handles characters that all
// languages escape alike.
type escapes func(b *strings.Builder, r rune)

// quote returns s in quotes, escaped for a language.
func quote(s string, mark rune, esc escapes) string {
	var b strings.Builder
	b.WriteRune(mark)
	for _, r := range s {
		switch {
		case r == mark || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r):
			b.WriteRune(r)
		default:
			esc(&b, r)
		}
	}
	b.WriteRune(mark)
	return b.String()
}

// jsonEscapes writes the escapes of JSON and JavaScript.
func jsonEscapes(b *strings.Builder, r rune) {
	if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
		fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}

func pythonEscapes(b *strings.Builder, r rune) {
	if r > 0xFFFF {
		fmt.Fprintf(b, `\U%08x`, r)
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}
