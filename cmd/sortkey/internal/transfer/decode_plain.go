package transfer

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item/doc"
)

// emptySize is the size of an empty list or map in bytes, according to the documentation of the service.
const emptySize = 3

// A decoder decodes the JSON of records into items.
type decoder struct {
	types Types
	form  form
	typed bool // the form is not plain JSON
	dec   jsontext.Decoder
	src   bytes.Buffer
	b     attr.Builder
	left  int // bytes by which the plain item may still grow before it exceeds the limit

	reuse   bool   // an item is valid only until the next record is decoded
	scratch []byte // for items, with reuse
}

// open starts decoding a text. Decoding returns an error for duplicate names in an object and for invalid UTF-8.
func (d *decoder) open(raw []byte) {
	d.src = *bytes.NewBuffer(raw)
	d.dec.Reset(&d.src)
}

// end returns an error if the text continues after the value.
func (d *decoder) end() error {
	if _, err := d.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return rejectf("unexpected data after the item")
	}
	return nil
}

// plain decodes an item in plain JSON.
func (d *decoder) plain(raw []byte) (attr.Item, error) {
	d.open(raw)
	if d.dec.PeekKind() != '{' {
		return nil, d.notObject()
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return nil, err
	}
	d.b.Reset()
	d.left = doc.MaxSize
	for d.dec.PeekKind() != '}' {
		name, err := d.dec.ReadToken()
		if err != nil {
			return nil, err
		}
		attribute := name.String()
		if err := d.grow(len(attribute)); err != nil {
			return nil, err
		}
		v, err := d.declared(d.types[attribute])
		if errors.Is(err, doc.ErrSize) { // the error is about the whole item, so it does not name this attribute
			return nil, err
		}
		if err != nil {
			return nil, rejectf("%s: %s", attribute, reason(err))
		}
		d.b.Add(attribute, v)
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return nil, err
	}
	return d.b.Item(), d.end()
}

// grow adds size to the size of a plain item. If the item then exceeds the limit of DynamoDB, grow returns an error,
// so that the decoder does not read the rest of a long record.
func (d *decoder) grow(size int) error {
	if d.left -= size; d.left < 0 {
		return doc.ErrSize
	}
	return nil
}

// grown returns v and err. If err is nil, it first calls grow with the size of v, and returns the error of grow.
func (d *decoder) grown(v attr.Value, err error) (attr.Value, error) {
	if err == nil {
		err = d.grow(v.Size())
	}
	return v, err
}

// notObject returns the error for a record that is not an object.
func (d *decoder) notObject() error {
	v, err := d.excerpt()
	if err != nil {
		return err
	}
	return rejectf("%s is not an item: an item is an object", v)
}

// excerpt reads a value and returns its first 40 bytes for an error message.
func (d *decoder) excerpt() (jsontext.Value, error) {
	v, err := d.dec.ReadValue()
	if len(v) > 40 {
		v = append(bytes.ToValidUTF8(v[:40], nil), "…"...)
	}
	return v, err
}

// declared decodes a value. Kind is the type that is declared for the attribute. If kind is "", declared takes the
// type from the JSON value.
func (d *decoder) declared(kind string) (attr.Value, error) {
	got := d.dec.PeekKind()
	if kind == AnyType {
		k, payload, err := doc.ReadValue(doc.From(&d.dec), d.left)
		v := attr.MakeValue(attr.Kind(k), payload)
		if err == nil && v.IsZero() {
			err = rejectf("null is not a value")
		}
		return d.grown(v, untyped(err))
	}
	if got == 'n' || kind == "" || kind == "L" && got == '[' || kind == "M" && got == '{' ||
		kind == "BOOL" && (got == 't' || got == 'f') {
		return d.value(1)
	}

	wrong := func() (attr.Value, error) {
		v, err := d.excerpt()
		if err != nil {
			return attr.Value{}, err
		}
		return attr.Value{}, rejectf("%s is not of type %s", v, kind)
	}
	switch kind {
	case "S", "N", "B":
		if got != '"' && (got != '0' || kind == "B") {
			return wrong()
		}
		return d.scalar(kind)
	case "SS", "NS", "BS":
		if got != '[' {
			return wrong()
		}
		set, _ := attr.ParseKind(kind)
		var elems []attr.Value
		if _, err := d.dec.ReadToken(); err != nil {
			return attr.Value{}, err
		}
		for d.dec.PeekKind() != ']' {
			if k := d.dec.PeekKind(); k != '"' && (k != '0' || kind == "BS") {
				return wrong()
			}
			v, err := d.scalar(kind[:1])
			if err != nil {
				return attr.Value{}, err
			}
			elems = append(elems, v)
		}
		if _, err := d.dec.ReadToken(); err != nil {
			return attr.Value{}, err
		}
		return attr.NewSet(set, elems...)
	}
	return wrong()
}

// scalar decodes a JSON string or number as a value of type S, N or B.
func (d *decoder) scalar(kind string) (attr.Value, error) {
	tok, err := d.dec.ReadToken()
	if err != nil {
		return attr.Value{}, err
	}
	switch text := tok.String(); kind {
	case "N":
		return d.grown(attr.NewNumber(text))
	case "B":
		return d.grown(binaryValue(text))
	default:
		return d.grown(attr.NewString(text), nil)
	}
}

// value decodes a value, and takes its type from the JSON value. Level is the nesting level of the value, from 1.
func (d *decoder) value(level int) (attr.Value, error) {
	if level > attr.MaxNesting {
		return attr.Value{}, attr.ErrNesting
	}

	tok, err := d.dec.ReadToken()
	if err != nil {
		return attr.Value{}, err
	}
	switch tok.Kind() {
	case 'n':
		return d.grown(attr.NewNull(), nil)
	case 't', 'f':
		return d.grown(attr.NewBool(tok.Bool()), nil)
	case '"':
		return d.grown(attr.NewString(tok.String()), nil)
	case '0':
		return d.grown(attr.NewNumber(tok.String()))
	case '[':
		if err := d.grow(emptySize); err != nil {
			return attr.Value{}, err
		}
		var elems []attr.Value
		for d.dec.PeekKind() != ']' {
			if err := d.grow(1); err != nil {
				return attr.Value{}, err
			}
			v, err := d.value(level + 1)
			if err != nil {
				return attr.Value{}, err
			}
			elems = append(elems, v)
		}
		_, err := d.dec.ReadToken()
		return attr.NewList(elems...), err
	}

	if err := d.grow(emptySize); err != nil {
		return attr.Value{}, err
	}
	var b attr.Builder
	for d.dec.PeekKind() != '}' {
		name, err := d.dec.ReadToken()
		if err != nil {
			return attr.Value{}, err
		}
		attribute := name.String()
		if err := d.grow(1 + len(attribute)); err != nil {
			return attr.Value{}, err
		}
		v, err := d.value(level + 1)
		if err != nil {
			return attr.Value{}, err
		}
		b.Add(attribute, v)
	}

	_, err = d.dec.ReadToken()
	return attr.NewMap(b.Item()), err
}
