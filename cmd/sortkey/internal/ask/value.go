package ask

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/keycond"
)

// quoted returns the value of the quoted string at the start of s, and the rest of s.
func quoted(s string) (value, rest string, err error) {
	value, rest, err = literal.CutQuoted(s)
	return value, rest, usage(err)
}

func isQuoted(s string) bool { return s != "" && (s[0] == '"' || s[0] == '\'') }

// unquote returns the value of an operand: the contents of a quoted string, or
// the text itself.
func unquote(s string) (string, error) {
	s = strings.TrimSpace(s)
	if !isQuoted(s) {
		return s, nil
	}
	value, rest, err := quoted(s)
	if err != nil {
		return "", err
	}
	if rest != "" {
		return "", UsageError("quote the whole value", "unexpected text after the closing quote: %s", rest)
	}
	return value, nil
}

// split splits s at the commas outside quotes.
func split(s string) []string {
	var parts []string
	start := 0
	for i := 0; i < len(s); {
		if strings.TrimSpace(s[start:i]) == "" && (s[i] == '"' || s[i] == '\'') {
			if _, rest, err := quoted(s[i:]); err == nil {
				i = len(s) - len(rest)
				continue
			}
		}
		if s[i] == ',' {
			parts = append(parts, strings.TrimSpace(s[start:i]))
			start = i + 1
		}
		i++
	}
	return append(parts, strings.TrimSpace(s[start:]))
}

// value returns text as a value of a key attribute's kind. Bytes are hexadecimal
// after 0x, and otherwise base64.
func value(a keycond.Attribute, text string) (attr.Value, error) {
	switch a.Kind {
	case attr.Number:
		v, err := attr.NewNumber(text)
		if err != nil {
			return v, UsageError("give a number of at most 38 digits, such as 42 or -1.5e3",
				"%s is a number, but %q is not: %v", a.Name, text, err)
		}
		return v, nil
	case attr.Binary:
		raw, err := bytesOf(text)
		if err != nil {
			return attr.Value{}, UsageError("write bytes in hexadecimal, such as 0x00ff, or in base64, such as AP8=",
				"%s is binary, but %q is neither hexadecimal nor base64", a.Name, text)
		}
		return attr.NewBinary(raw), nil
	}
	if !utf8.ValidString(text) {
		return attr.Value{}, UsageError("strings must be UTF-8; only keys of type B take bytes",
			"%s is a string, but %q is not UTF-8", a.Name, text)
	}
	return attr.NewString(text), nil
}

func bytesOf(text string) ([]byte, error) {
	if digits, ok := strings.CutPrefix(strings.ToLower(text), "0x"); ok {
		return hex.DecodeString(digits)
	}
	if len(text)%4 != 0 {
		return base64.RawStdEncoding.DecodeString(text)
	}
	return base64.StdEncoding.DecodeString(text)
}
