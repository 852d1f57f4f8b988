package attr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"unicode/utf8"
)

// ErrForm is the error for bytes that are not a binary item.
var ErrForm = errors.New("attr: not a binary item")

// Check returns b as an item when it is a well-formed one in canonical form,
// and [ErrForm] otherwise. Bytes from this package need no check; bytes from
// a file do.
func Check(b []byte) (Item, error) {
	if len(b) == 0 {
		return nil, nil
	}
	if !checkDoc(Map, b, 0) {
		return nil, ErrForm
	}
	return Item(b), nil
}

// checkDoc checks an item, list or set payload. Its elements are at the level
// after level.
func checkDoc(kind Kind, b []byte, level int) bool {
	if len(b) < docHead {
		return false
	}
	count := int(binary.LittleEndian.Uint32(b))
	if count < 0 || count > (len(b)-docHead)/4 || kind.IsSet() && count == 0 {
		return false
	}
	next := docHead + 4*count
	if count == 0 && len(b) != next {
		return false
	}
	for i := range count {
		start := int(binary.LittleEndian.Uint32(b[docHead+4*i:]))
		end := len(b)
		if i+1 < count {
			end = int(binary.LittleEndian.Uint32(b[docHead+4*i+4:]))
		}
		if start != next || end < start || end > len(b) {
			return false
		}
		next = end
	}
	size, last := 0, []byte(nil)
	for i := range count {
		entry := docEntry(b, i)
		switch {
		case kind.IsSet():
			v := Value{kind.Elem(), entry}
			if !checkValue(v, level) || i > 0 && bytes.Compare(last, entry) >= 0 {
				return false
			}
			size += v.Size()
			last = entry
		case kind == List:
			if len(entry) == 0 || !checkValue(Value{Kind(entry[0]), entry[1:]}, level+1) {
				return false
			}
			size += Value{Kind(entry[0]), entry[1:]}.Size()
		default:
			if len(entry) < attrHead || len(entry) < attrHead+int(binary.LittleEndian.Uint16(entry[1:])) {
				return false
			}
			name, v := Item(b).At(i)
			if !checkValue(v, level+1) || !utf8.Valid(name) || i > 0 && bytes.Compare(last, name) >= 0 {
				return false
			}
			size += len(name) + v.Size()
			last = name
		}
	}
	return int(binary.LittleEndian.Uint32(b[4:])) == size
}

func checkValue(v Value, level int) bool {
	if level > MaxNesting {
		return false
	}
	switch v.kind {
	case String:
		return utf8.Valid(v.raw)
	case Binary:
		return true
	case Number:
		var d decimal
		var form [1 + maxPairs + 1]byte
		return d.load(v.raw) && string(d.append(form[:0])) == string(v.raw)
	case Bool:
		return len(v.raw) == 1 && v.raw[0] <= 1
	case Null:
		return len(v.raw) == 0
	case List, Map, StringSet, NumberSet, BinarySet:
		return checkDoc(v.kind, v.raw, level)
	}
	return false
}
