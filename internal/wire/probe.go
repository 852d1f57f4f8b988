package wire

import (
	"bytes"
	"errors"

	"github.com/sortkey/sortkey/attr"
)

// Package attr reads attribute values without knowing where they stand in a
// request, and the service's text for a value of the wrong type depends on it.
// When attr refuses one, it is looked at again here.

// explain returns the service's error for the attribute values that start in
// the body at from, which were refused with err.
func (d *decoder) explain(err error, from int64, read func(*decoder, *probe, position) (bool, error)) error {
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

// A probe stands for a value that is only checked.
type probe struct{}

func (d *decoder) probeItem(_ *probe, pos position) (bool, error) {
	var m map[string]probe
	return readMap(d, &m, pos, valueClass, (*decoder).probeValue)
}

func (d *decoder) probeValue(_ *probe, pos position) (bool, error) {
	ok, err := d.open('{', pos, valueClass)
	if err != nil || !ok {
		return false, err
	}
	for {
		name, more, err := d.member()
		if err != nil || !more {
			return true, err
		}
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
			_, err = readList(d, new([]probe), inField, (*decoder).probeValue)
		case "M":
			_, err = d.probeItem(nil, inField)
		default:
			err = d.skip()
		}
		if err != nil {
			return true, err
		}
	}
}
