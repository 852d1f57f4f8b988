package item

import (
	"encoding/base64"
	"strconv"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item/token"
)

// AppendPlain appends an item as a plain JSON object: numbers as numbers, binary data as base64, sets as arrays. The
// object does not always show which types the values had.
func AppendPlain(dst []byte, it attr.Item) []byte { return AppendPlainExcept(dst, it, nil) }

// AppendPlainExcept is AppendPlain, except that it writes the attributes for which typed returns true in DynamoDB
// JSON, which keeps their types. Typed may be nil.
func AppendPlainExcept(dst []byte, it attr.Item, typed func(name []byte) bool) []byte {
	dst = append(dst, '{')
	for i := range it.Len() {
		if i > 0 {
			dst = append(dst, ',')
		}
		name, v := it.At(i)
		dst = token.AppendQuote(dst, name)
		dst = append(dst, ':')
		if typed != nil && typed(name) {
			dst = v.AppendJSON(dst)
			continue
		}
		dst = appendPlainValue(dst, v)
	}
	return append(dst, '}')
}

func appendPlainValue(dst []byte, v attr.Value) []byte {
	switch v.Kind() {
	case attr.String:
		return token.AppendQuote(dst, v.Raw())
	case attr.Number:
		return v.AppendNumber(dst)
	case attr.Binary:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, v.Raw())
		return append(dst, '"')
	case attr.Bool:
		return strconv.AppendBool(dst, v.Bool())
	case attr.Map:
		return AppendPlain(dst, v.Map())
	case attr.List, attr.StringSet, attr.NumberSet, attr.BinarySet:
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendPlainValue(dst, v.Index(i))
		}
		return append(dst, ']')
	}
	return append(dst, "null"...)
}
