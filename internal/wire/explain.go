package wire

import (
	"bytes"
	"errors"

	"github.com/sortkey/sortkey/attr"
)

// Package doc parses attribute values, but does not know their position in a request. The service's message for a
// value of the wrong type depends on that position. So if package doc returns an error, the functions of this file
// parse the value again to find the message.

// explain returns the service's error for attribute values that package doc could not parse. err is the error of that
// package, and the values begin at the offset from in the body.
func (d *decoder) explain(err error, from int, read func(*decoder, *discard, position) (bool, error)) error {
	if value, ok := errors.AsType[*attr.Error](err); !ok || !value.Syntax {
		return err
	}
	text := d.body[from:]
	again := openBody(text[bytes.IndexByte(text, '{'):])
	_, found := read(again, nil, inParent)
	_ = again.close(nil, &Faults{})
	if own, ok := errors.AsType[*Error](found); ok {
		return own
	}
	return err
}

// A discard stands for a value that is parsed but not stored.
type discard struct{}

func (d *decoder) discardItem(_ *discard, pos position) (bool, error) {
	var m map[string]discard
	return readMap(d, &m, pos, itemClass, (*decoder).discardValue)
}

func (d *decoder) discardValue(_ *discard, pos position) (bool, error) {
	return d.object(pos, valueClass, func(name []byte) (err error) {
		switch string(name) {
		case "S", "N":
			_, err = d.readString(new(string), inField)
		case "B":
			_, err = d.readBlob(new([]byte), inField)
		case "BOOL", "NULL":
			_, err = d.readBoolean(new(bool), inField)
		case "SS", "NS":
			_, err = readList(d, new([]string), inField, (*decoder).readString)
		case "BS":
			_, err = readList(d, new([][]byte), inField, (*decoder).readBlob)
		case "L":
			_, err = readList(d, new([]discard), inField, (*decoder).discardValue)
		case "M":
			_, err = d.discardItem(nil, inField)
		default:
			err = d.skip()
		}
		return err
	})
}
