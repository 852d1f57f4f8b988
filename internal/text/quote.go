package text

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sortkey/sortkey/attr"
)

// Literal formats a value as people write it in expressions: text in quotes, binary data in hexadecimal. For the zero
// Value it returns "".
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

// Quote returns text in double quotes. Unprintable characters are escaped, and bytes that are not UTF-8 become \xFF.
func Quote[T string | []byte](text T) string {
	if s := string(text); utf8.ValidString(s) {
		return strconv.Quote(s)
	}
	// strconv.Quote writes lower-case hexadecimal. Upper case is easier to find in a table of bytes.
	var b strings.Builder
	b.WriteByte('"')
	for rest := []byte(text); len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 {
			b.WriteString(`\x` + strings.ToUpper(hex.EncodeToString(rest[:1])))
		} else {
			quoted := strconv.Quote(string(rest[:n]))
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		rest = rest[n:]
	}
	b.WriteByte('"')
	return b.String()
}

// Hex returns bytes as 0x followed by hexadecimal digits.
func Hex(raw []byte) string { return "0x" + hex.EncodeToString(raw) }

// Name returns an attribute name, in backquotes unless it is a plain word.
// Unprintable characters are escaped.
func Name(name string) string {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			quoted := Quote(name)
			return "`" + strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`) + "`"
		}
	}
	if name == "" {
		return "``"
	}
	return name
}

// JSON returns v as JSON without escaping <, > and &, and without a newline at
// the end.
func JSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
