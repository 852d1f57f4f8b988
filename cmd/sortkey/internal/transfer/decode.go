package transfer

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item/doc"
	"github.com/sortkey/sortkey/internal/requestfile"
)

// A form is the structure of a record in a JSON file. All records of a file have the form of the first one.
type form int

const (
	formUnknown form = iota
	formItem         // {"Item":{"id":{"S":"x"}}}
	formBare         // {"id":{"S":"x"}}
	formChange       // {"Metadata":…,"Keys":…,"NewImage":…} in an incremental export
	formPlain        // {"id":"x"}
)

// formOf returns the form of a record.
func formOf(raw []byte) form {
	members, ok := membersOf(raw, doc.MaxSize)
	if !ok {
		return formUnknown
	}
	values := map[string]jsontext.Value{}
	all := true
	for _, m := range members {
		values[m.name] = m.value
		all = all && typed(m.value)
	}
	if item, ok := values["Item"]; ok && len(members) == 1 {
		if inner, ok := membersOf(item, doc.MaxSize); ok && (len(inner) == 0 || typed(inner[0].value)) {
			return formItem
		}
	}
	keys, ok := membersOf(values["Keys"], doc.MaxSize)
	if ok && len(keys) > 0 && typed(keys[0].value) && values["Metadata"] != nil {
		return formChange
	}
	if all {
		return formBare
	}
	return formPlain
}

type member struct {
	name  string
	value jsontext.Value
}

// membersOf returns the members of an object. It returns false for a value that is not an object, and for an object
// with more than most members.
func membersOf(raw []byte, most int) (members []member, ok bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, false
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true)) // the decoder rejects them
	if _, err := dec.ReadToken(); err != nil {
		return nil, false
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil || len(members) == most {
			return nil, false
		}
		text := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		members = append(members, member{text, value.Clone()})
	}
	_, err := dec.ReadToken()
	return members, err == nil
}

// typed reports whether a value is an object whose only member has the name of a type, such as {"S":"x"}.
func typed(raw jsontext.Value) bool {
	members, ok := membersOf(raw, 1)
	if !ok || len(members) != 1 {
		return false
	}
	return requestfile.Typed(members[0].name, members[0].value.Kind())
}

// DecodeItem decodes an item in DynamoDB JSON or plain JSON. It also accepts {"Item":…} with an item in DynamoDB
// JSON, as in exports.
func DecodeItem(raw []byte) (attr.Item, error) {
	var d decoder
	it, remove, err := d.item(bytes.TrimSpace(raw))
	if err == nil && remove {
		err = rejectf("record of a deleted item")
	}
	return it, err
}

// CutValue decodes the JSON value at the beginning of src, and returns its length in bytes. An object such as {"SS":
// ["x"]}, whose only member has the name of a type, is DynamoDB JSON. Any other value is plain JSON.
func CutValue(src string) (v attr.Value, length int, err error) {
	dec := jsontext.NewDecoder(strings.NewReader(src))
	raw, err := dec.ReadValue()
	if err != nil {
		return v, 0, rejectf("%s", reason(err))
	}

	var d decoder
	d.open(raw.Clone())
	d.left = doc.MaxSize
	if typed(raw) {
		v, err = d.declared(AnyType)
	} else {
		v, err = d.value(1)
	}
	if err != nil {
		return v, 0, rejectf("%s", reason(err))
	}
	return v, int(dec.InputOffset()), nil
}

var errNull = rejectf("null is not an item")

// item decodes a record. If the record deletes an item, remove is true, and the result has only the key of that item.
func (d *decoder) item(raw []byte) (it attr.Item, remove bool, err error) {
	if d.form == formUnknown {
		form := formOf(raw)
		if form == formUnknown { // malformed
			d.open(raw)
			return nil, false, d.notObject()
		}
		if d.typed && form == formPlain {
			form = formBare
		}
		if string(raw) != "{}" {
			d.form = form
		}
	}
	switch d.form {
	case formPlain, formUnknown:
		it, err = d.plain(raw)
	case formBare:
		d.open(raw)
		it, err = d.typedItem()
	default:
		return d.wrapped(raw)
	}
	return it, false, err
}

// untyped rewrites a syntax error in DynamoDB JSON to an error that names this format, because the text may be plain
// JSON.
func untyped(err error) error {
	if e, ok := errors.AsType[*attr.Error](err); ok && e.Syntax {
		return rejectf("not DynamoDB JSON: %s", e.Msg)
	}
	return err
}

// readItem decodes an item in DynamoDB JSON. If d.reuse is set, the item is valid until the next call.
func (d *decoder) readItem() (attr.Item, error) {
	if !d.reuse {
		raw, err := doc.AppendItem(nil, doc.From(&d.dec), doc.MaxSize)
		return raw, err
	}
	raw, err := doc.AppendItem(d.scratch[:0], doc.From(&d.dec), doc.MaxSize)
	if raw != nil {
		d.scratch = raw
	}
	return raw, err
}

// typedItem decodes an item in DynamoDB JSON. It returns an error if the text continues after the item.
func (d *decoder) typedItem() (attr.Item, error) {
	if k := d.dec.PeekKind(); k != '{' && k != 'n' {
		return nil, d.notObject()
	}
	it, err := d.readItem()
	e, ok := errors.AsType[*attr.Error](err)
	switch {
	case err != nil && (!ok || e.Syntax):
		return nil, untyped(err)
	case err == nil && it == nil:
		return nil, errNull
	}
	return it, errors.Join(err, d.end())
}

// wrapped decodes a record of the form formItem or formChange, in which the item is a member of the record.
func (d *decoder) wrapped(raw []byte) (it attr.Item, remove bool, err error) {
	d.open(raw)
	if d.dec.PeekKind() != '{' {
		return nil, false, d.notObject()
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return nil, false, err
	}
	var keys, image attr.Item
	var invalid error
	for d.dec.PeekKind() != '}' {
		tok, err := d.dec.ReadToken()
		if err != nil {
			return nil, false, err
		}
		var into *attr.Item
		name := tok.String()
		switch {
		case name == "Item" && d.form == formItem, name == "NewImage" && d.form == formChange:
			into = &image
		case name == "Keys" && d.form == formChange:
			into = &keys
		case d.form == formItem:
			return nil, false, rejectf("unexpected member %q: earlier records have only Item", name)
		}
		switch {
		case into == nil:
			err = d.dec.SkipValue()
		case d.form == formItem:
			*into, err = d.readItem()
		default:
			*into, err = doc.AppendItem(nil, doc.From(&d.dec), doc.MaxSize)
		}
		if e, ok := errors.AsType[*attr.Error](err); ok && !e.Syntax {
			invalid, err = err, nil
		}
		if err != nil {
			return nil, false, untyped(err)
		}
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return nil, false, err
	}
	if err := d.end(); err != nil {
		return nil, false, err
	}

	switch {
	case invalid != nil:
		return nil, false, invalid
	case image != nil:
		return image, false, nil
	case keys != nil:
		return keys, true, nil
	}
	return nil, false, rejectf("record without an item")
}
