package modelfile

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/sortkey/sortkey/attr"
)

var (
	plainWord  = regexp.MustCompile(`^[A-Za-z0-9_./+-]+$`)
	plainWords = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./+,;'()=<>-]*( [A-Za-z0-9_./+,;'()=<>-]+)*$`)
	// special matches words that some version of YAML does not read as text.
	special = regexp.MustCompile(`^(?i:null|true|false|yes|no|on|off|y|n|-+|\.+|=|<)$`)
)

// name returns a name in a mapping.
func name(s string) string { return flowText(s) }

// flowText returns text inside brackets, without quotes if it is unambiguous.
// Text that looks like a number or a date needs no quotes, because the parser
// reads it as written.
func flowText(s string) string {
	if plainWord.MatchString(s) && !special.MatchString(s) && !strings.HasPrefix(s, "-") {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil && plainWord.MatchString(s) {
		return s
	}
	return quote(s)
}

// plainText returns text at the end of a line.
func plainText(s string) string {
	if plainWords.MatchString(s) && !special.MatchString(s) {
		return s
	}
	return flowText(s)
}

func flowTexts(list []string) string {
	parts := make([]string, len(list))
	for i, s := range list {
		parts[i] = flowText(s)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// quote returns text in double quotes with the escapes of YAML.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r) && r != 0xFEFF:
			b.WriteRune(r)
		case r <= 0xFF:
			fmt.Fprintf(&b, `\x%02X`, r)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// valueText returns an attribute value: a string in quotes, other values as
// DynamoDB JSON.
func valueText(v attr.Value) string {
	switch v.Kind() {
	case attr.String:
		return quote(string(v.Raw()))
	case attr.Number:
		return fmt.Sprintf(`{N: %s}`, v.AppendNumber(nil))
	case attr.Binary:
		return fmt.Sprintf(`{B: %q}`, base64.StdEncoding.EncodeToString(v.Raw()))
	case attr.Bool:
		return fmt.Sprintf(`{BOOL: %v}`, v.Bool())
	case attr.Null:
		return `{"NULL": true}`
	case attr.Map:
		return "{M: " + itemText(v.Map()) + "}"
	case attr.StringSet, attr.NumberSet, attr.BinarySet, attr.List:
		parts := make([]string, v.Len())
		for i := range parts {
			e := v.Index(i)
			switch e.Kind() {
			case attr.Number:
				parts[i] = string(e.AppendNumber(nil))
			case attr.Binary:
				parts[i] = strconv.Quote(base64.StdEncoding.EncodeToString(e.Raw()))
			default:
				parts[i] = valueText(e)
			}
			if v.Kind() == attr.List {
				parts[i] = valueText(e)
			}
		}
		return "{" + v.Kind().String() + ": [" + strings.Join(parts, ", ") + "]}"
	}
	return `""`
}
