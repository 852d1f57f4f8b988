package wire

import (
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// appendName appends a member's name, including quotes and colon. It adds a
// comma before all names but the object's first.
func appendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(dst, name...)
}

// appendString appends s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}

// appendDouble appends f like the service: whole numbers have a fraction.
func appendDouble(dst []byte, f float64) []byte {
	from := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	if !slices.Contains(dst[from:], '.') {
		dst = append(dst, ".0"...)
	}
	return dst
}

// appendTimestamp appends seconds since 1970.
func appendTimestamp(dst []byte, f float64) []byte { return strconv.AppendFloat(dst, f, 'f', -1, 64) }

func sortedKeys[T any](m map[string]T) []string {
	if len(m) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(m))
}
