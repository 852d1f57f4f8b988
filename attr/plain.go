package attr

import (
	"encoding/base64"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendPlain appends it as a plain JSON object, its values as
// [Value.AppendPlain] writes them.
func (it Item) AppendPlain(dst []byte) []byte {
	dst = append(dst, '{')
	for i := range it.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		name, v := it.At(i)
		dst = appendPlainText(dst, name)
		dst = append(dst, ':')
		dst = v.AppendPlain(dst)
	}
	return append(dst, '}')
}

// AppendPlain appends v as plain JSON: numbers as numbers, binary data as
// base64, sets as arrays. What type a value had cannot always be told from it.
func (v Value) AppendPlain(dst []byte) []byte {
	switch v.Kind() {
	case String:
		return appendPlainText(dst, v.Raw())
	case Number:
		return v.AppendNumber(dst)
	case Binary:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, v.Raw())
		return append(dst, '"')
	case Bool:
		if v.Bool() {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case Map:
		return v.Map().AppendPlain(dst)
	case List, StringSet, NumberSet, BinarySet:
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = v.Index(i).AppendPlain(dst)
		}
		return append(dst, ']')
	}
	return append(dst, "null"...)
}

func appendPlainText(dst, text []byte) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // fails only after it has replaced bytes that are no UTF-8
	return dst
}
