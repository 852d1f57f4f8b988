package item

import (
	"encoding/base64"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item/number"
	"github.com/sortkey/sortkey/internal/item/token"
)

// JSONLen returns the length of [attr.Item.AppendJSON] without building the text. A stored number may be much shorter
// than its text: 1E125 is written as a 1 and 125 zeros. So an item of 400 KB may have 19 MB of JSON.
func JSONLen(it attr.Item) int {
	n := len(`{}`) + max(0, it.Len()-1) // commas
	for i := range it.Len() {
		name, v := it.At(i)
		n += token.QuotedLen(name) + len(`:`) + jsonLen(v)
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
		return token.QuotedLen(v.Raw())
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
