package explain

import (
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sortkey/sortkey/attr"
)

// Literal returns a value as a person would write it in an expression: text in
// quotes, binary data in hexadecimal.
func Literal(v attr.Value) string {
	switch v.Kind() {
	case 0:
		return ""
	case attr.String:
		return Quote(v.Raw())
	case attr.Number:
		return string(v.AppendNumber(nil))
	case attr.Binary:
		return Hex(v.Raw())
	case attr.Bool:
		return strconv.FormatBool(v.Bool())
	case attr.Null:
		return "null"
	case attr.Map:
		parts := make([]string, v.Len())
		for i := range parts {
			name, elem := v.Map().At(i)
			parts[i] = Name(string(name)) + ": " + Literal(elem)
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	parts := make([]string, v.Len())
	for i := range parts {
		parts[i] = Literal(v.Index(i))
	}
	if v.Kind() == attr.List {
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "<" + strings.Join(parts, ", ") + ">"
}

// Quote returns text in quotes, with all that is not printable escaped: bytes
// that are no UTF-8 as \xFF.
func Quote(text []byte) string {
	if utf8.Valid(text) {
		return strconv.Quote(string(text))
	}
	// strconv.Quote does the same, but in lower case; bytes are easier to find
	// in a table of them in upper case.
	var b strings.Builder
	b.WriteByte('"')
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 {
			b.WriteString(`\x` + strings.ToUpper(hex.EncodeToString(text[:1])))
		} else {
			quoted := strconv.Quote(string(text[:n]))
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[n:]
	}
	b.WriteByte('"')
	return b.String()
}

// Hex returns bytes as 0x followed by hexadecimal digits.
func Hex(raw []byte) string { return "0x" + hex.EncodeToString(raw) }

// Name returns an attribute name, in backquotes unless it is a plain word.
func Name(name string) string {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return "`" + name + "`"
		}
	}
	if name == "" {
		return "``"
	}
	return name
}
