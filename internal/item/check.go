package item

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode/utf8"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/doc"
	"github.com/sortkey/sortkey/internal/number"
)

// ErrForm is the error for bytes that are not a binary item.
var ErrForm = errors.New("item: not a binary item")

// Check returns b as an item if it is a well-formed item in canonical form,
// otherwise [ErrForm]. Bytes from this package need no check; bytes from a file
// do.
func Check(b []byte) (attr.Item, error) {
	if len(b) == 0 {
		return nil, nil
	}
	if !checkDoc(attr.Map, b, 0) {
		return nil, ErrForm
	}
	return attr.Item(b), nil
}

// checkDoc checks the payload of an item, list or set at the given level; its
// elements are one level deeper.
func checkDoc(kind attr.Kind, b []byte, level int) bool {
	if !doc.Valid(b) || kind.IsSet() && doc.Len(b) == 0 {
		return false
	}
	size, last := 0, []byte(nil)
	for i := range doc.Len(b) {
		entry := doc.Entry(b, i)
		switch {
		case kind.IsSet():
			v := attr.MakeValue(kind.Elem(), entry)
			if !checkValue(v, level) || i > 0 && bytes.Compare(last, entry) >= 0 {
				return false
			}
			size += v.Size()
			last = entry
		case kind == attr.List:
			if len(entry) == 0 || !checkValue(attr.MakeValue(attr.Kind(entry[0]), entry[1:]), level+1) {
				return false
			}
			size += attr.MakeValue(attr.Kind(entry[0]), entry[1:]).Size()
		default:
			if len(entry) < doc.AttributeHead ||
				len(entry) < doc.AttributeHead+int(binary.LittleEndian.Uint16(entry[1:])) {
				return false
			}
			name, v := attr.Item(b).At(i)
			if !checkValue(v, level+1) || !utf8.Valid(name) || i > 0 && bytes.Compare(last, name) >= 0 {
				return false
			}
			size += len(name) + v.Size()
			last = name
		}
	}
	return doc.Size(b) == size
}

func checkValue(v attr.Value, level int) bool {
	if level > attr.MaxNesting {
		return false
	}
	switch v.Kind() {
	case attr.String:
		return utf8.Valid(v.Raw())
	case attr.Binary:
		return true
	case attr.Number:
		return number.Valid(v.Raw())
	case attr.Bool:
		return len(v.Raw()) == 1 && v.Raw()[0] <= 1
	case attr.Null:
		return len(v.Raw()) == 0
	case attr.List, attr.Map, attr.StringSet, attr.NumberSet, attr.BinarySet:
		return checkDoc(v.Kind(), v.Raw(), level)
	}
	return false
}
