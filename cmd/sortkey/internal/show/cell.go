package show

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/text"
)

// Cell returns the text of a value in a table. It does not quote unambiguous text. For all other values it returns
// the result of [text.Literal].
func Cell(v attr.Value) string {
	if s := string(v.Raw()); v.Kind() == attr.String && plain(s) {
		return s
	}
	return text.Literal(v)
}

// plain reports whether text is unambiguous without quotes.
func plain(s string) bool {
	if s == "" || s[0] == ' ' || s[len(s)-1] == ' ' || s[0] == '"' || !utf8.ValidString(s) {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
