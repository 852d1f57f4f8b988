package wire

import (
	"slices"
	"strconv"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item/token"
)

// appendName appends a member's name with quotes and a colon. It puts a comma before the name unless the member is
// the object's first.
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

// Each of the following functions appends a member if it is present.

func appendTextMember(dst []byte, name string, p *string) []byte {
	if p == nil {
		return dst
	}
	return appendString(appendName(dst, name), *p)
}

func appendIntegerMember(dst []byte, name string, p *int64) []byte {
	if p == nil {
		return dst
	}
	return appendInteger(appendName(dst, name), *p)
}

func appendDoubleMember(dst []byte, name string, p *float64) []byte {
	if p == nil {
		return dst
	}
	return appendDouble(appendName(dst, name), *p)
}

func appendBooleanMember(dst []byte, name string, p *bool) []byte {
	if p == nil {
		return dst
	}
	return strconv.AppendBool(appendName(dst, name), *p)
}

func appendItemMember(dst []byte, name string, it attr.Item) []byte {
	if it == nil {
		return dst
	}
	return it.AppendJSON(appendName(dst, name))
}

// appendList appends a list, calling value for each element.
func appendList[T any](dst []byte, l []T, value func(*T, []byte) []byte) []byte {
	dst = append(dst, '[')
	for i := range l {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = value(&l[i], dst)
	}
	return append(dst, ']')
}

// appendMap appends a map in key order, calling value for each element.
func appendMap[T any](dst []byte, m map[string]T, value func(*T, []byte) []byte) []byte {
	dst = append(dst, '{')
	for i, k := range sortedKeys(m) {
		if i > 0 {
			dst = append(dst, ',')
		}
		e := m[k]
		dst = value(&e, append(appendString(dst, k), ':'))
	}
	return append(dst, '}')
}

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
