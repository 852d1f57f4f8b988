package requestfile

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/attr"
)

// Head is the number of bytes at the beginning of a file that [Is] needs. The first write is seldom longer.
const Head = 1 << 20

// Is reports whether a file begins with a request rather than an item. Text is the beginning of the file, and must
// contain the first write. Its item has typed attributes, such as {"S": "x"}, so an item that has attributes called
// TableName or RequestItems is no request. Is skips a byte-order mark, which a [Reader] does not.
func Is(text []byte) bool {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	r := NewReader(bytes.NewReader(text), len(text))
	w, err := r.Next()
	if err != nil || !w.request {
		return false
	}
	for _, f := range r.stack {
		for name := range f.members {
			if !isSetting(name) {
				return false
			}
		}
	}
	return true
}

// Typed reports whether a value of a JSON kind is possible for a type name of DynamoDB JSON, such as "S" or "M".
func Typed(name string, value jsontext.Kind) bool {
	kind, ok := attr.ParseKind(name)
	if !ok {
		return false
	}
	switch kind {
	case attr.String, attr.Number, attr.Binary:
		return value == '"'
	case attr.Bool, attr.Null:
		return value == 't' || value == 'f'
	case attr.Map:
		return value == '{'
	}
	return value == '['
}

func isSetting(name string) bool {
	return slices.Contains(settings, name) || slices.Contains(conditions, name)
}
