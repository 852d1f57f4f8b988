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

// appendScalar appends a member if it is present.
func appendScalar[T any](dst []byte, name string, p *T, value func([]byte, T) []byte) []byte {
	if p == nil {
		return dst
	}
	return value(appendName(dst, name), *p)
}

// appendMember appends a member that is not a pointer if it is present.
func appendMember[T any](dst []byte, name string, v T, present bool, value func([]byte, T) []byte) []byte {
	if !present {
		return dst
	}
	return value(appendName(dst, name), v)
}

// A structure is a pointer to a shape with members.
type structure[T any] interface {
	*T
	AppendJSON(dst []byte) []byte
}

// appendObject appends a member that is a structure if it is present.
func appendObject[T any, P structure[T]](dst []byte, name string, p P) []byte {
	if p == nil {
		return dst
	}
	return p.AppendJSON(appendName(dst, name))
}

func appendStruct[T any, P structure[T]](dst []byte, v T) []byte { return P(&v).AppendJSON(dst) }

// appendAttr appends an attribute value or an item.
func appendAttr[T interface{ AppendJSON(dst []byte) []byte }](dst []byte, v T) []byte {
	return v.AppendJSON(dst)
}

func appendInteger(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

func appendList[T any](dst []byte, l []T, value func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i := range l {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = value(dst, l[i])
	}
	return append(dst, ']')
}

func appendMap[T any](dst []byte, m map[string]T, value func([]byte, T) []byte) []byte {
	dst = append(dst, '{')
	for i, k := range sortedKeys(m) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = value(append(appendString(dst, k), ':'), m[k])
	}
	return append(dst, '}')
}
