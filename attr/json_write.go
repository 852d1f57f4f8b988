package attr

import (
	"encoding/base64"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/internal/item/number"
)

// AppendJSON appends the item as DynamoDB JSON, such as {"id":{"S":"x"}}. The
// nil Item is {}. It allocates nothing beyond dst.
func (it Item) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range it.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		name, v := it.At(i)
		dst = appendQuoted(dst, name)
		dst = append(dst, ':')
		dst = v.AppendJSON(dst)
	}
	return append(dst, '}')
}

// AppendJSON appends the value as DynamoDB JSON, such as {"S":"x"}. The zero
// Value is {}. It allocates nothing beyond dst.
func (v Value) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	if v.kind != 0 {
		dst = append(dst, '"')
		dst = append(dst, v.kind.String()...)
		dst = append(dst, '"', ':')
		dst = v.appendPayload(dst)
	}
	return append(dst, '}')
}

func (v Value) appendPayload(dst []byte) []byte {
	switch v.kind {
	case String:
		return appendQuoted(dst, v.raw)
	case Number:
		dst = append(dst, '"')
		dst = number.AppendText(dst, v.raw)
		return append(dst, '"')
	case Binary:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, v.raw)
		return append(dst, '"')
	case Bool:
		if v.Bool() {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case Null:
		return append(dst, "true"...)
	case Map:
		return Item(v.raw).AppendJSON(dst)
	case List, StringSet, NumberSet, BinarySet:
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			if elem := v.Index(i); v.kind == List {
				dst = elem.AppendJSON(dst)
			} else {
				dst = elem.appendPayload(dst)
			}
		}
		return append(dst, ']')
	}
	return append(dst, "null"...)
}

// AppendNumber appends the decimal text of an N as the service prints it, and
// nothing for other kinds.
func (v Value) AppendNumber(dst []byte) []byte {
	if v.kind != Number {
		return dst
	}
	return number.AppendText(dst, v.raw)
}

// plain marks the bytes that need no escaping in a JSON string.
var plain = func() (t [256]bool) {
	for c := ' '; c < 0x7F; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// appendQuoted appends a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendQuoted(dst, s []byte) []byte {
	for _, c := range s {
		if !plain[c] {
			dst, _ = jsontext.AppendQuote(dst, s)
			return dst
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}
