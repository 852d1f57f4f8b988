package attr

import (
	"encoding/base64"
	"strconv"

	"github.com/sortkey/sortkey/internal/item/number"
)

// String returns the value as the service writes it in messages, such as {S:hello} or {L:[{N:1}]}. Binary is in
// base64. It is for people: use [Value.AppendJSON] for text that can be parsed again.
func (v Value) String() string { return string(v.AppendText(nil)) }

// AppendText appends the text that [Value.String] returns, without allocating it.
func (v Value) AppendText(dst []byte) []byte {
	dst = append(dst, '{')
	if v.kind != 0 {
		dst = append(dst, v.kind.String()...)
		dst = append(dst, ':')
		dst = v.appendText(dst)
	}
	return append(dst, '}')
}

func (v Value) appendText(dst []byte) []byte {
	switch v.kind {
	case String:
		return append(dst, v.raw...)
	case Number:
		return number.AppendText(dst, v.raw)
	case Binary:
		return base64.StdEncoding.AppendEncode(dst, v.raw)
	case Bool:
		return strconv.AppendBool(dst, v.Bool())
	case Null:
		return append(dst, "true"...)
	case Map:
		dst = append(dst, '{')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			name, elem := v.Map().At(i)
			dst = append(dst, name...)
			dst = append(dst, '=')
			dst = elem.AppendText(dst)
		}
		return append(dst, '}')
	}

	dst = append(dst, '[')
	for i := range v.Len() {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if elem := v.Index(i); v.kind == List {
			dst = elem.AppendText(dst)
		} else {
			dst = elem.appendText(dst)
		}
	}

	return append(dst, ']')
}
