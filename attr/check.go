package attr

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/item/doc"
	"github.com/sortkey/sortkey/internal/item/number"
)

// errForm is the error for bytes that this package cannot have made.
var errForm = errors.New("the bytes are not an encoded value; " +
	"make values with this package, and leave their bytes as they are")

// errText is the error for text that is not UTF-8. If the bad bytes were replaced instead, two different keys could
// become equal.
var errText = errors.New("the text is not UTF-8; use a []byte, which is stored as a B")

// errNoName is the error for an attribute without a name.
//
//lint:ignore ST1005 It is the text of the service.
var errNoName = errors.New(msgNoName)

// inspect returns an error if v, at a level of nesting, is not a value in its stored form. Each value has only one
// stored form, so a value that passes can be read, stored and compared by its bytes.
func inspect(v Value, level int) error {
	if level > MaxNesting {
		return ErrNesting
	}

	isValid := false
	switch v.kind {
	case String:
		if !utf8.Valid(v.raw) {
			return errText
		}
		return nil
	case Number:
		isValid = number.Valid(v.raw)
	case Binary:
		isValid = true
	case Bool:
		isValid = len(v.raw) == 1 && v.raw[0] <= 1
	case Null:
		isValid = len(v.raw) == 0
	case List, Map, StringSet, NumberSet, BinarySet:
		return inspectDoc(v.kind, v.raw, level)
	}
	if !isValid {
		return errForm
	}
	return nil
}

// inspectDoc is inspect for the payload of a list, map or set.
func inspectDoc(kind Kind, d []byte, level int) error {
	if !doc.Valid(d) || kind.IsSet() && doc.Len(d) == 0 {
		return errForm
	}

	size, last := 0, []byte(nil)
	for i := range doc.Len(d) {
		entry := doc.Entry(d, i)
		var elem Value
		var order []byte // element of a set or name in a map; each must be greater than the previous one
		elemLevel := level + 1
		switch {
		case kind.IsSet():
			elem, order, elemLevel = Value{kind.Elem(), entry}, entry, level
		case kind == List && len(entry) > 0:
			elem = Value{Kind(entry[0]), entry[1:]}
		case kind == Map && doc.IsAttribute(entry):
			order, elem = Item(d).At(i)
			if err := inspectName(order); err != nil {
				return err
			}
			size += len(order)
		}

		// An entry that is too short leaves elem zero, which inspect refuses.
		if err := inspect(elem, elemLevel); err != nil {
			return err
		}
		if kind != List && i > 0 && bytes.Compare(last, order) >= 0 {
			return errForm
		}
		size, last = size+elem.Size(), order
	}
	if size != doc.Size(d) {
		return errForm
	}
	return nil
}

func inspectName(name []byte) error {
	switch {
	case len(name) == 0:
		return errNoName
	case !utf8.Valid(name):
		return errText
	}
	return nil
}
