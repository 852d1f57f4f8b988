package show

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/text"
)

// Literal returns a value as an expression would have it: text in quotes,
// binary data in hexadecimal.
func Literal(v attr.Value) string { return text.Literal(v) }

// Cell returns a value for a table: text as it is, or in quotes where that
// could be misread.
func Cell(v attr.Value) string {
	if s := string(v.Raw()); v.Kind() == attr.String && plain(s) {
		return s
	}
	return text.Literal(v)
}

// Quote returns text in quotes, with all that is not printable escaped: bytes
// that are no UTF-8 as \xFF.
func Quote(raw []byte) string { return text.Quote(raw) }

// Hex returns bytes as 0x followed by hexadecimal digits.
func Hex(raw []byte) string { return text.Hex(raw) }

// Name returns an attribute name, in backquotes unless it is a plain word.
func Name(name string) string { return text.Name(name) }

// plain reports whether text shows itself as it is.
func plain(s string) bool {
	if s == "" || s[0] == ' ' || s[len(s)-1] == ' ' || s[0] == '"' || !utf8.ValidString(s) {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
