package wire

import (
	"bytes"
	"errors"
	"unsafe"

	"github.com/sortkey/sortkey/attr"
)

// Package doc parses attribute values, but does not know their position in a request. The service's message for a
// value of the wrong type depends on that position. So if package doc returns an error, the functions of this file
// parse the value again to find the message.

// explain returns the service's error for attribute values that package doc could not parse. err is the error of that
// package, and the values begin at the offset from in the body. read parses them again and stores nothing.
func (d *decoder) explain(err error, from int, read func(*decoder, position) error) error {
	if value, ok := errors.AsType[*attr.Error](err); !ok || !value.Syntax {
		return err
	}
	text := d.body[from:]
	again := openBody(text[bytes.IndexByte(text, '{'):])
	found := read(again, inParent)
	_ = again.close(nil, &Faults{})
	if own, ok := errors.AsType[*Error](found); ok {
		return own
	}
	return err
}

func (d *decoder) discardItem(pos position) error {
	_, err := d.entries(pos, itemClass, 0, func(string) error { return d.discardValue(inParent) })
	return err
}

func (d *decoder) discardValue(pos position) error {
	_, err := d.object(pos, valueClass, func(name []byte) (err error) {
		switch string(name) {
		case "S", "N":
			err = d.discardString()
		case "B":
			err = d.discardBlob()
		case "BOOL", "NULL":
			_, err = d.readBoolean(new(bool))
		case "SS", "NS":
			_, err = d.list(inField, unsafe.Sizeof(""), d.discardString)
		case "BS":
			_, err = d.list(inField, unsafe.Sizeof([]byte{}), d.discardBlob)
		case "L":
			_, err = d.list(inField, 0, func() error { return d.discardValue(inParent) })
		case "M":
			err = d.discardItem(inField)
		default:
			err = d.skip()
		}
		return err
	})
	return err
}

func (d *decoder) discardString() error {
	_, err := d.readString(new(string), inParent)
	return err
}

func (d *decoder) discardBlob() error {
	_, err := d.readBlob(new([]byte))
	return err
}
