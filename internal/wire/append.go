package wire

import (
	"slices"
	"strconv"

	"github.com/sortkey/sortkey/internal/item/token"
)

// appendName appends a member's name with quotes and a colon. Unless the member is the first of its object, it puts a
// comma before the name.
func appendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(dst, name...)
}

// appendString appends s as a JSON string. Invalid UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	return token.AppendQuote(dst, []byte(s)) // which does not copy s
}

// appendDouble appends f as the service writes it. A whole number gets a fraction, such as 1.0.
func appendDouble(dst []byte, f float64) []byte {
	from := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if !slices.Contains(dst[from:], '.') {
		dst = append(dst, ".0"...)
	}
	return dst
}

// appendTimestamp appends a number of seconds since 1970.
func appendTimestamp(dst []byte, f float64) []byte { return strconv.AppendFloat(dst, f, 'f', -1, 64) }

func appendInteger(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

func sortedKeys[T any](m map[string]T) []string {
	if len(m) == 0 {
		return nil
	}
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
