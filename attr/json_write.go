package attr

import (
	"encoding/base64"
	"strconv"

	"github.com/sortkey/sortkey/internal/item/number"
	"github.com/sortkey/sortkey/internal/item/token"
)

// AppendJSON appends the item as DynamoDB JSON, such as {"id":{"S":"x"}}, which [ParseItem] reads. The nil Item is {}.
// It allocates nothing beyond dst.
func (it Item) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range it.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		name, v := it.At(i)
		dst = token.AppendQuote(dst, name)
		dst = append(dst, ':')
		dst = v.AppendJSON(dst)
	}
	return append(dst, '}')
}

// AppendJSON appends the value as DynamoDB JSON, such as {"S":"x"}, which [ParseValue] reads. The zero Value is {}. It
// allocates nothing beyond dst.
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
		return token.AppendQuote(dst, v.raw)
	case Number:
		dst = append(dst, '"')
		dst = number.AppendText(dst, v.raw)
		return append(dst, '"')
	case Binary:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, v.raw)
		return append(dst, '"')
	case Bool:
		return strconv.AppendBool(dst, v.Bool())
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

// AppendNumber appends the decimal text of an N as the service prints it. For other kinds, it appends nothing.
func (v Value) AppendNumber(dst []byte) []byte {
	if v.kind != Number {
		return dst
	}
	return number.AppendText(dst, v.raw)
}
