package item

import (
	"encoding/base64"
	"unicode/utf8"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item/number"
)

// JSONLen returns the length of [attr.Item.AppendJSON] without building the text.
// Stored numbers are short and their texts are not: 1E125 is a 1 and 125 zeros, so
// an item of 400 KB may have 19 MB of JSON.
func JSONLen(it attr.Item) int {
	n := len(`{}`) + max(0, it.Len()-1) // commas
	for i := range it.Len() {
		name, v := it.At(i)
		n += quotedLen(name) + len(`:`) + jsonLen(v)
	}
	return n
}

func jsonLen(v attr.Value) int {
	if v.IsZero() {
		return len(`{}`)
	}
	return len(`{"":}`) + len(v.Kind().String()) + payloadLen(v)
}

func payloadLen(v attr.Value) int {
	switch v.Kind() {
	case attr.String:
		return quotedLen(v.Raw())
	case attr.Number:
		return len(`""`) + number.TextLen(v.Raw())
	case attr.Binary:
		return len(`""`) + base64.StdEncoding.EncodedLen(len(v.Raw()))
	case attr.Bool:
		if !v.Bool() {
			return len(`false`)
		}
		return len(`true`)
	case attr.Map:
		return JSONLen(v.Map())
	case attr.List, attr.StringSet, attr.NumberSet, attr.BinarySet:
		n := len(`[]`) + max(0, v.Len()-1) // commas
		for i := range v.Len() {
			if elem := v.Index(i); v.Kind() == attr.List {
				n += jsonLen(elem)
			} else {
				n += payloadLen(elem)
			}
		}
		return n
	}
	return len(`true`) // NULL
}

// extra is how many bytes a byte of ASCII takes in a JSON string beyond itself.
var extra = func() (t [utf8.RuneSelf]uint8) {
	for c := range byte(' ') {
		t[c] = uint8(len(`\u0000`) - 1)
	}
	for _, c := range "\"\\\b\f\n\r\t" {
		t[c] = 1
	}
	return t
}()

// quotedLen returns the length of a JSON string. Bytes that are not UTF-8 become
// U+FFFD.
func quotedLen(s []byte) int {
	n := len(`""`) + len(s)
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < utf8.RuneSelf {
			n += int(extra[c])
			continue
		}
		r, size := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && size == 1 {
			n += utf8.RuneLen(utf8.RuneError) - 1
		}
		i += size - 1
	}
	return n
}
