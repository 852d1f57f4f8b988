package wire

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/item/blob"
	"github.com/sortkey/sortkey/internal/item/doc"
	"github.com/sortkey/sortkey/internal/item/token"
	"github.com/sortkey/sortkey/internal/lex"
)

// A position says where in a request a value is. The service's message for a wrong type depends on it.
type position uint8

const (
	inBody   position = iota // the request itself
	inField                  // a member of a structure
	inParent                 // an element of a list or map
)

// A decoder decodes one body. Its methods return an *Error, an *attr.Error or token.ErrMalformed. The method close
// converts each of them to an *Error.
type decoder struct {
	json    token.Reader
	body    []byte
	faults  Faults
	recent  recentStrings
	strings []string // unused variables, to which the pointers of string members will point
	decoded int      // bytes of memory that list and map elements take so far
}

// maxDecoded is the maximum memory of list and map elements, in bytes. It protects against small bodies that need
// much memory: an element can take a hundred times as much memory as its JSON, for example if "{}," is an index of a
// table. Requests that the service accepts stay far below the limit.
const maxDecoded = 16 << 20

var errManyElements = Validation("The request contains too many elements")

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// openBody returns a decoder of a body. The decoder rejects invalid UTF-8 and lone surrogates as malformed JSON. If
// it replaced them by U+FFFD, two different keys could become equal.
func openBody(body []byte) *decoder {
	d := decoders.Get().(*decoder)
	d.body = body
	d.json.Reset(body)
	return d
}

// close ends the decoding of a body. If err is set, it returns the service's error for err. It returns an error too
// if text follows the body. It stores the faults in *faults. If faults is nil, it returns the first fault as the
// error.
func (d *decoder) close(err error, faults *Faults) error {
	if err == nil {
		err = d.json.End()
	}
	found := d.faults
	d.faults, d.decoded = nil, 0
	d.body = nil
	d.json.Reset(nil)
	decoders.Put(d)
	if err != nil {
		return wireError(err)
	}
	if faults != nil {
		*faults = found
	} else if len(found) > 0 {
		return Validation(found[0].Msg)
	}
	return nil
}

// wireError converts an error of decoding to the service's error.
func wireError(err error) error {
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	if value, ok := errors.AsType[*attr.Error](err); ok {
		return Serialization(value.Msg)
	}
	return errMalformed
}

// errMalformed is the error for a body that is not a JSON object. It has no message. Source: dynalite
// test/helpers.js, dynoxide.
var errMalformed = Serialization("")

func unexpectedToken() *Error { return Serialization("Unexpected token received from parser") }

// open reads the start of an object or list, and returns true. It returns false for null. For any other value it
// returns the service's error for a value of the wrong type.
func (d *decoder) open(start byte, pos position, class string) (bool, error) {
	kind := d.json.Peek()
	if kind == start {
		err := d.json.Open()
		return err == nil, err
	}

	// Read any other value to its end first, as the service reports malformed JSON before a wrong type. Its message
	// for a wrong type depends on the Java type into which it deserialises the value.
	if err := d.json.Skip(); err != nil {
		return false, err
	}
	switch {
	case kind == 'n' && pos != inBody:
		return false, nil
	case kind == '{':
		return false, Serialization(textStructure)
	case kind == '[':
		if !strings.HasPrefix(class, "java.util.Map<") {
			class = "class " + class
		}
		return false, Serialization("Unrecognized collection type " + class)
	case pos == inBody:
		return false, errMalformed
	case pos == inField:
		return false, Serialization("Unexpected field type")
	case start == '{' && !strings.HasPrefix(class, "java.util.Map<"):
		return false, Serialization("Unexpected value type in payload")
	}

	return false, Serialization(textCast)
}

// member reads the next name of an object, or returns false at the object's end. The name is valid until the next
// read.
func (d *decoder) member() ([]byte, bool, error) {
	name, more, err := d.json.Name()
	if err != nil || !more {
		return nil, false, err
	}
	return d.json.Text(name), true, nil
}

func (d *decoder) skip() error { return d.json.Skip() }

// fault records that the attribute value which was just read is well formed but not allowed.
func (d *decoder) fault(err *attr.Error) {
	d.faults = append(d.faults, Fault{Path: d.json.Path(), Msg: err.Msg, Older: err.Older})
}

// refused handles an error of reading an attribute value. If err is a fault, refused records it and returns nil, so
// that decoding continues. Otherwise it returns err.
func (d *decoder) refused(err error) error {
	if value, ok := errors.AsType[*attr.Error](err); ok && !value.Syntax {
		d.fault(value)
		return nil
	}
	return err
}

// scalar reads a value other than an object or list. It returns false for null.
func (d *decoder) scalar(class string) ([]byte, bool, error) {
	raw, err := d.json.Value()
	if err != nil {
		return nil, false, err
	}
	switch raw[0] {
	case 'n':
		return nil, false, nil
	case '{':
		return nil, false, Serialization(textStructure)
	case '[':
		return nil, false, Serialization("Unrecognized collection type class " + class)
	}
	return raw, true, nil
}

func mismatch(raw []byte, class string) error {
	return Serialization(tokenName(raw) + " cannot be converted to " + class)
}

// tokenName returns what the service's messages call a scalar JSON token.
func tokenName(raw []byte) string {
	switch raw[0] {
	case 't':
		return "TRUE_VALUE"
	case 'f':
		return "FALSE_VALUE"
	case '"':
		return "STRING_VALUE"
	}
	if bytes.ContainsAny(raw, ".eE") {
		return "DECIMAL_VALUE"
	}
	return "NUMBER_VALUE"
}

func (d *decoder) readString(x *string, _ position) (bool, error) {
	raw, ok, err := d.scalar("java.lang.String")
	if err != nil || !ok {
		return false, err
	}
	if raw[0] != '"' {
		return false, mismatch(raw, "String")
	}
	*x = d.recent.get(d.json.Text(raw))
	return true, nil
}

// recentStrings caches strings of earlier requests, as programs often send the same table names and expressions.
type recentStrings [8]string

// maxText is the maximum length of a cached string, in bytes.
const maxText = 256

// get returns text as a string. If the cache has an equal string, get returns that one and allocates nothing.
func (t *recentStrings) get(text []byte) string {
	if len(text) == 0 || len(text) > maxText {
		return string(text)
	}
	known := &t[(len(text)^int(text[len(text)-1]))%len(t)]
	if *known != string(text) {
		*known = string(text)
	}
	return *known
}

// number reads a number. It returns false for null.
func (d *decoder) number(class string) ([]byte, bool, error) {
	raw, ok, err := d.scalar("java.lang." + class)
	if ok && token.Kind(raw) != '0' {
		return nil, false, mismatch(raw, class)
	}
	return raw, ok, err
}

// readWhole reads a number and drops its fraction. A number outside [lo, hi] becomes the nearer of these bounds.
// Captures of Query and Scan of 2026-10-20 show this for numbers up to 2^63. For a number beyond the range of doubles
// there is no capture, and readWhole returns an error.
func (d *decoder) readWhole(x reflect.Value, class string, lo, hi int64) (bool, error) {
	raw, ok, err := d.number(class)
	if !ok {
		return false, err
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		f, _ := strconv.ParseFloat(string(raw), 64) // ±Inf when out of range
		switch {
		case math.IsInf(f, 0):
			return false, mismatch(raw, class)
		case f >= math.MaxInt64:
			n = math.MaxInt64
		case f <= math.MinInt64:
			n = math.MinInt64
		default:
			n = int64(f)
		}
	}

	x.SetInt(min(max(n, lo), hi))
	return true, nil
}

func (d *decoder) readFloat(x reflect.Value, class string) (bool, error) {
	raw, ok, err := d.number(class)
	if !ok {
		return false, err
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return false, mismatch(raw, class) // beyond the range of doubles, as in readWhole
	}
	x.SetFloat(f)
	return true, nil
}

func (d *decoder) readBoolean(x *bool) (bool, error) {
	raw, ok, err := d.scalar("java.lang.Boolean")
	if err != nil || !ok {
		return false, err
	}
	switch raw[0] {
	case 't':
		*x = true
	case 'f':
		*x = false
	case '"':
		switch strings.ToUpper(string(d.json.Text(raw))) {
		case "TRUE", "1", "YES":
			*x = true
		case "FALSE", "0", "NO":
			*x = false
		default:
			return false, unexpectedToken()
		}
	default:
		return false, mismatch(raw, "Boolean")
	}

	return true, nil
}

func (d *decoder) readBlob(x *[]byte) (bool, error) {
	raw, ok, err := d.scalar("java.nio.ByteBuffer")
	if err != nil || !ok {
		return false, err
	}
	if raw[0] != '"' {
		return false, Serialization("only base-64-encoded strings are convertible to bytes")
	}
	var msg string
	if *x, msg = blob.Append([]byte{}, d.json.Text(raw)); msg != "" {
		return true, Serialization(msg)
	}
	return true, nil
}

// The names of Java classes in messages.
const (
	valueClass = classes + "AttributeValue"
	itemClass  = "java.util.Map<java.lang.String, " + valueClass + ">"
)

// typed reports whether the next value is an object, as attribute values and items are. For any other value it calls
// [decoder.open] and returns its result, as the message for a wrong type depends on the position, which package doc
// does not know.
func (d *decoder) typed(pos position, class string) (bool, error) {
	if d.json.Peek() == '{' {
		return true, nil
	}
	return d.open('{', pos, class)
}

func (d *decoder) readValue(x *attr.Value, pos position) (bool, error) {
	if ok, err := d.typed(pos, valueClass); err != nil || !ok {
		if err == nil && pos == inParent {
			d.fault(&attr.Error{Msg: textNoKind})
		}
		return false, err
	}
	from := d.json.Offset()
	kind, payload, err := doc.ReadValue(&d.json, doc.AnySize)
	*x = attr.MakeValue(attr.Kind(kind), payload)
	if err != nil {
		err = d.explain(d.refused(err), from, (*decoder).discardValue)
	}
	return true, err
}

func (d *decoder) readItem(x *attr.Item, pos position) (bool, error) {
	if ok, err := d.typed(pos, itemClass); err != nil || !ok {
		return false, err
	}
	from := d.json.Offset()
	raw, err := doc.AppendItem(nil, &d.json, doc.AnySize)
	if *x = raw; raw == nil {
		*x = attr.Item{}
	}
	if err != nil {
		err = d.explain(d.refused(err), from, (*decoder).discardItem)
	}
	return true, err
}

// readValues reads ExpressionAttributeValues, which have the form of an item. If a value has a fault, readValues
// reads all values again, one by one, so that the path of each fault contains the name of its value.
func (d *decoder) readValues(x *attr.Item, pos position) (bool, error) {
	from, known := d.json.Offset(), len(d.faults)
	ok, err := d.readItem(x, pos)
	if err != nil || len(d.faults) == known {
		return ok, err
	}
	path := d.faults[known].Path
	d.faults = d.faults[:known]
	text := d.body[from:d.json.Offset()]
	again := openBody(text[bytes.IndexByte(text, '{'):])
	values := map[string]attr.Value{}
	if _, err := readMap(again, &values, inField, itemClass, (*decoder).readValue); err != nil {
		return true, err
	}
	for key := range values {
		if key == "" || key[0] != ':' || !lex.IsWord(key[1:]) {
			// The service checks the expressions before the values, and rejects this key there. So drop the faults,
			// and let that check report the key. Source: dynalite, validations/index.js, validateExpressions.
			again.faults = nil
		}
	}

	for _, f := range again.faults {
		f.Path = path + "." + f.Path
		d.faults = append(d.faults, f)
	}
	return true, again.close(nil, &Faults{})
}

// object reads an object and calls read after the name of each member.
func (d *decoder) object(pos position, class string, read func(name []byte) error) (bool, error) {
	ok, err := d.open('{', pos, class)
	if err != nil || !ok {
		return false, err
	}
	for {
		name, more, err := d.member()
		if err == nil && more {
			err = read(name)
		}
		if err != nil || !more {
			return true, err
		}
	}
}

// entries reads an object whose names are map keys, and calls read after each key. size is the memory that an element
// of the map takes, in bytes.
func (d *decoder) entries(pos position, class string, size uintptr, read func(key string) error) (bool, error) {
	return d.object(pos, class, func(name []byte) error {
		key := string(name)
		if err := d.count(size + uintptr(len(key))); err != nil {
			return err
		}
		return read(key)
	})
}

// list reads a list and calls read for each element. size is the memory that an element takes, in bytes.
func (d *decoder) list(pos position, size uintptr, read func() error) (bool, error) {
	ok, err := d.open('[', pos, "java.util.List")
	if err != nil || !ok {
		return false, err
	}
	for d.json.More() {
		err := d.count(size)
		if err == nil {
			err = read()
		}
		if err != nil {
			return true, err
		}
	}
	return true, nil
}

// count adds the memory of an element to d.decoded. It returns an error if the sum exceeds maxDecoded.
func (d *decoder) count(size uintptr) error {
	if d.decoded += int(size); d.decoded > maxDecoded {
		return errManyElements
	}
	return nil
}

// readText reads a string member. It sets *x to a new variable with the string, or to nil for null. As most members
// are strings, it allocates several variables at once.
func (d *decoder) readText(x **string) error {
	if len(d.strings) == 0 {
		d.strings = make([]string, 8)
	}
	v := &d.strings[0]
	d.strings = d.strings[1:]
	ok, err := d.readString(v, inField)
	if ok {
		*x = v
	} else if err == nil {
		*x = nil
	}
	return err
}

// readMap reads a map. Class is the type of the map in the service's messages.
func readMap[T any](
	d *decoder, x *map[string]T, pos position, class string, read func(*decoder, *T, position) (bool, error),
) (bool, error) {
	m := map[string]T{}
	var e T
	ok, err := d.entries(pos, class, unsafe.Sizeof(e), func(key string) error {
		e = *new(T)
		_, err := read(d, &e, inParent)
		m[key] = e
		return err
	})
	if ok && err == nil {
		*x = m
	}
	return ok, err
}
