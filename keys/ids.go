package keys

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxKSUID is the largest KSUID: 20 bytes of 0xff in base 62.
const maxKSUID = "aWgEPTl1tmebfsQzFP4bxwgy80V"

const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

func canonicalUUID(t Type, text string) (string, error) {
	s := strings.ToLower(text)
	ok := len(s) == 36
	for i := 0; ok && i < len(s); i++ {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			ok = s[i] == '-'
		} else {
			ok = isHex(s[i])
		}
	}
	if !ok {
		return "", invalid(t, text, "is not a UUID", "write it as 123e4567-e89b-12d3-a456-426614174000")
	}
	return s, nil
}

func canonicalULID(t Type, text string) (string, error) {
	s := strings.ToUpper(text)
	if len(s) != 26 || s[0] > '7' || strings.Trim(s, crockford) != "" {
		return "", invalid(
			t, text, "is not a ULID",
			"write it as 01ARZ3NDEKTSV4RRFFQ69G5FAV: 26 digits and letters without I, L, O and U, the first at most 7",
		)
	}
	return s, nil
}

func canonicalKSUID(t Type, text string) (string, error) {
	ok := len(text) == len(maxKSUID) && text <= maxKSUID
	for i := 0; ok && i < len(text); i++ {
		c := text[i]
		ok = '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
	}
	if !ok {
		return "", invalid(t, text, "is not a KSUID", "write it as 0ujtsYcgvSTl8PAuAdqWYSMnLOv: 27 digits and letters")
	}
	return text, nil
}

func canonicalHex(t Type, text string) (string, error) {
	s := strings.ToLower(text)
	ok := len(s) == t.Width
	for i := 0; ok && i < len(s); i++ {
		ok = isHex(s[i])
	}
	if !ok {
		return "", invalid(t, text, "is not "+strconv.Itoa(t.Width)+" hexadecimal digits", "write it in 0-9 and a-f")
	}
	return s, nil
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

func checkValues(values []string) (msg, advice string) {
	const how = "write enum(NEW,PAID,SHIPPED)"
	if len(values) == 0 {
		return "enum needs its values", how
	}
	for i, v := range values {
		switch {
		case v == "":
			return "enum has an empty value", how
		case strings.ContainsAny(v, ",(){}") || strings.TrimSpace(v) != v || !utf8.ValidString(v):
			return "enum cannot have the value " + clip(v),
				"values must be UTF-8 without commas, parentheses, braces or surrounding space"
		case slices.Contains(values[:i], v):
			return "enum has the value " + clip(v) + " twice", how
		}
	}
	return "", ""
}

func canonicalEnum(t Type, text string) (string, error) {
	if !slices.Contains(t.Values, text) {
		return "", invalid(
			t, text, "is not one of "+strings.Join(t.Values, ", "),
			"use one of these values or add it to the enum; values are case-sensitive",
		)
	}
	return text, nil
}

func enumWidth(t Type) int {
	for _, v := range t.Values {
		if len(v) != len(t.Values[0]) {
			return 0
		}
	}
	return len(t.Values[0])
}

func compareEnum(t Type, a, b string) int {
	return max(-1, min(1, slices.Index(t.Values, a)-slices.Index(t.Values, b)))
}

func prefixLower(t Type, s string) (string, error) { return text(t, strings.ToLower(s)) }

func prefixUpper(t Type, s string) (string, error) { return text(t, strings.ToUpper(s)) }
