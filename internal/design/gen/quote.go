package gen

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// escapes writes a character that does not show. The characters that every
// language escapes alike are not its business.
type escapes func(b *strings.Builder, r rune)

// quote writes s in quotes as the language of esc reads it.
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

// jsonEscapes are those of JSON, which JavaScript has too.
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

// shell quotes a word for POSIX shells, unless it needs no quotes.
func shell(s string) string {
	plain := s != ""
	for _, r := range s {
		if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-./,:", r)) {
			plain = false
		}
	}
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
