package attr

import (
	"bytes"
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/item/number"
)

// Marshal returns the value that a Go value is stored as. The error is a [*ConvertError].
//
// A value has the form that package attributevalue of the AWS SDK gives it with default options:
//
//   - bool is a BOOL; integers, floats and strings with the methods of [encoding/json.Number]
//     are an N; other strings are an S.
//   - Slices and arrays of bytes are a B, [][]byte is a BS, and other slices and arrays are
//     an L. A slice with the tag of a set is NULL if it is empty.
//   - Structs and maps are an M. Keys of maps are an [encoding.TextMarshaler], or strings,
//     numbers and booleans, whose String method is called if there is one. No key may be
//     empty, and decoding its text must give the same key.
//   - Strings and keys that are not UTF-8 are refused: store bytes as a []byte.
//   - [time.Time] is an S in RFC 3339 with nanoseconds, without trailing zeros. So 10:00:00.5Z
//     sorts before 10:00:00Z: in keys, use the option unixtime or a keys.Timestamp.
//   - A pointer or an interface is stored as the value that it refers to. Nil pointers,
//     interfaces, slices and maps are NULL.
//
// A type that would lose its content by these rules, such as [net/netip.Addr], is an S if it
// implements [encoding.TextMarshaler] and its counterpart, or a B if it implements
// [encoding.BinaryMarshaler] and its counterpart. A [Value] and an [Item] are checked, and stored
// as they are. A [Marshaler] chooses its form.
//
// All exported fields of a struct and of structs embedded in it are stored. Marshal refuses
// values that [Unmarshal] could not restore, even where the SDK drops them:
//
//   - Channels, functions, complex numbers and structs without exported fields, unless the tag
//     leaves the field out.
//   - Two fields of one name at one depth; a field with a value that another one hides; an embedded
//     struct without exported fields, such as a [time.Time]; an embedded pointer to a struct that
//     is not exported.
//   - An unknown option of a tag, and the option string on a type other than a number.
//   - Values in an interface with methods, and times that RFC 3339 cannot write.
//   - A type whose methods choose its form for the AWS SDK only.
//
// A tag can name the attribute and add options:
//
//	Field T `dynamodbav:"name"`           // stored as name
//	Field T `dynamodbav:"-"`              // not stored
//	Field T `dynamodbav:",omitempty"`     // not stored if false, 0, "" or nil
//	Field T `dynamodbav:",nullempty"`     // NULL if false, 0, "" or nil
//	Field T `dynamodbav:",omitemptyelem"` // omitempty for the elements of a slice or map
//	Field T `dynamodbav:",nullemptyelem"` // nullempty for the elements of a slice or map
//	Field T `dynamodbav:",string"`        // a number, stored as an S
//	Field T `dynamodbav:",unixtime"`      // a time.Time, stored as an N of seconds
//	Field T `dynamodbav:",stringset"`     // a slice, stored as an SS
//	Field T `dynamodbav:",numberset"`     // a slice, stored as an NS
//	Field T `dynamodbav:",binaryset"`     // a slice, stored as a BS
func Marshal(v any) (Value, error) { return marshal(v, 1) }

// MarshalItem returns the item that a struct or a map is stored as, for stores and conditions; package sortkey calls
// it for tables of structs. It stores values in the same forms, and returns the same errors, as [Marshal].
func MarshalItem(v any) (Item, error) {
	value, err := marshal(v, 0)
	if err == nil && value.kind != Map {
		err = &ConvertError{
			Type: reflect.TypeOf(v), Msg: "an item cannot be of kind " + value.kind.String(),
			Advice: "pass a struct or a map that is not nil",
		}
	}
	return value.Map(), err
}

// marshal encodes v at a level of nesting: 0 for items, 1 for values of attributes.
func marshal(v any, level int) (Value, error) {
	switch v := v.(type) {
	case nil:
		return NewNull(), nil
	case Item:
		if v != nil {
			return cloned(NewMap(v), itemType, level)
		}
	case Value:
		if !v.IsZero() {
			return cloned(v, valueType, level)
		}
	}
	e := encoders.Get().(*encoder)
	defer e.release()

	elem := reflect.ValueOf(v)
	p := planOf(elem.Type())
	value, err := e.encode(p, elem, 0, level)
	if err != nil {
		return Value{}, err
	}
	if value.IsZero() {
		return p.encodeError(problem{"values of this type are not stored", "pass a struct or a map"}, nil)
	}
	return Value{value.kind, bytes.Clone(value.raw)}, nil
}

// cloned returns a copy of v. It returns an error naming the Go type t if v is not in its stored form.
func cloned(v Value, t reflect.Type, level int) (Value, error) {
	if err := inspect(v, level); err != nil {
		return planOf(t).encodeError(problem{}, err)
	}
	return Value{v.kind, bytes.Clone(v.raw)}, nil
}

// An encoder converts Go values to their stored form.
type encoder struct {
	stack
	hops int // number of interfaces entered on the way to the current value
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

func (e *encoder) release() {
	e.reset()
	e.hops = 0
	encoders.Put(e)
}

// maxHops is the most interfaces that encode enters on the way to a value. Each level of a document may add a few.
// The limit stops encode at a cycle of pointers and interfaces.
const maxHops = 4 * MaxNesting

// encodeError returns the results of encoding a value of the plan's type that cannot be stored: no value, and why.
func (p *plan) encodeError(what problem, cause error) (Value, error) {
	return Value{}, &ConvertError{Type: p.typ, Msg: what.msg, Advice: what.advice, Err: cause}
}

// encode returns the stored form of v, or the zero Value if v is not stored. The result is valid until the encoder is
// released. It may share the bytes of v.
func (e *encoder) encode(p *plan, v reflect.Value, o options, level int) (Value, error) {
	if isEmpty(v) {
		switch {
		case o.has(omitEmpty | nullEmpty):
			return p.encodeError(problem{"the tag has both omitempty and nullempty", "remove one"}, nil)
		case o.has(omitEmpty):
			return Value{}, nil
		case o.has(nullEmpty), isNil(v):
			return e.encodeNull(p, level)
		}
	}

	switch p.form {
	case formPointer:
		return e.encodeTarget(p.elem, v.Elem(), o, level)
	case formInterface:
		switch {
		case p.typ.NumMethod() > 0:
			return p.encodeError(lostInterface, nil)
		case e.hops == maxHops:
			return p.encodeError(problem{"too many interfaces inside each other", nestingAdvice}, nil)
		}
		e.hops++
		target := v.Elem()
		value, err := e.encodeTarget(planOf(target.Type()), target, o, level)
		e.hops--
		return value, err
	}
	return e.encodeFull(p, v, o, level)
}

// isEmpty reports whether omitempty omits v.
func isEmpty(v reflect.Value) bool {
	switch kind := v.Kind(); {
	case kind == reflect.String, kind == reflect.Array:
		return v.Len() == 0
	case kind == reflect.Bool, v.CanInt(), v.CanUint(), v.CanFloat():
		return v.IsZero()
	}
	return isNil(v)
}

func isNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.Interface, reflect.Pointer:
		return v.IsNil()
	}
	return false
}

func (e *encoder) encodeNull(p *plan, level int) (Value, error) {
	if level > MaxNesting {
		return p.encodeError(problem{advice: nestingAdvice}, ErrNesting)
	}
	return NewNull(), nil
}

// encodeTarget encodes the value that a pointer points to or an interface holds. omitempty applies to this value only
// if it is a pointer or an interface itself.
func (e *encoder) encodeTarget(p *plan, v reflect.Value, o options, level int) (Value, error) {
	switch {
	case p.form == formInterface:
		return e.encode(p, v, o, level)
	case p.form != formPointer:
		return e.encodeFull(p, v, o, level)
	case !v.IsNil():
		return e.encode(p.elem, v.Elem(), o, level)
	case o.has(omitEmpty | omitEmptyElem):
		return Value{}, nil
	}
	return e.encodeNull(p, level)
}

// encodeFull encodes a value even if it is empty: it ignores omitempty and nullempty.
func (e *encoder) encodeFull(p *plan, v reflect.Value, o options, level int) (Value, error) {
	switch {
	case p.noEncode.msg != "":
		return p.encodeError(p.noEncode, nil)
	case level > MaxNesting:
		return p.encodeError(problem{advice: nestingAdvice}, ErrNesting)
	case p.form == formStruct && !p.marshals:
		return e.encodeStruct(p, v, level)
	case !v.CanInterface():
		return p.encodeError(unexported, nil)
	case p.marshals:
		value, err := pointerTo(v).Interface().(Marshaler).MarshalAttr()
		return e.encodeValue(p, value, err, level)
	}

	if p.form != formInt || !o.has(asString) {
		if value, ok := e.encodePlain(p.form, v); ok {
			return value, nil
		}
	}
	start := len(e.buf)
	switch p.form {
	case formString:
		return p.encodeError(problem{}, errText)
	case formDigits, formInt, formUint, formFloat:
		return e.encodeNumber(p, v, o)
	case formBytes:
		return e.encodeBytes(v), nil
	case formList:
		if kind := o.set(p.typ); kind != 0 {
			return e.encodeSet(p, v, kind, o, level)
		}
		return e.encodeList(p, v, o, level)
	case formMap:
		return e.encodeMap(p, v, o, level)
	case formTime, formUnixTime:
		t := timeIn(v)
		if p.form == formUnixTime || o.has(asUnixTime) {
			e.buf = number.AppendInt(e.buf, t.Unix())
			return e.value(Number, start), nil
		}
		if what := textProblem(t); what.msg != "" {
			return p.encodeError(what, nil)
		}
		e.buf = t.AppendFormat(e.buf, time.RFC3339Nano)
		return e.value(String, start), nil
	case formText:
		text, err := pointerTo(v).Interface().(encoding.TextMarshaler).MarshalText()
		return e.encodeValue(p, NewString(string(text)), err, level)
	case formBinary:
		data, err := pointerTo(v).Interface().(encoding.BinaryMarshaler).MarshalBinary()
		return e.encodeValue(p, NewBinary(data), err, level)
	case formValue:
		return p.inspected(*pointerTo(v).Interface().(*Value), level)
	}
	return p.inspected(NewMap(v.Bytes()), level) // formItem
}

// lostInterface is the problem with interfaces that have methods: decoding would not know which type to store in
// them.
var lostInterface = problem{"decoding cannot set an interface with methods", "use another type"}

// unexported is the problem with an embedded struct of an unexported type that has a name in its tag: only its own
// package can use such a field.
var unexported = problem{"the type of the embedded field is not exported", "export it"}

// pointerTo returns a pointer to v, or to a copy of v if v is not addressable.
func pointerTo(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v.Addr()
	}
	pointer := reflect.New(v.Type())
	pointer.Elem().Set(v)
	return pointer
}

// timeIn returns the time in a value whose type is time.Time or is defined as time.Time.
func timeIn(v reflect.Value) *time.Time {
	return pointerTo(v).Convert(timePointer).Interface().(*time.Time)
}

// textProblem says why RFC 3339 cannot write a time without loss. It returns an empty problem if it can.
func textProblem(t *time.Time) problem {
	const day = 24 * 60 * 60
	_, offset := t.Zone()
	switch year := t.Year(); {
	case year < 0 || year > 9999:
		return problem{"RFC 3339 has no year " + strconv.Itoa(year), "use the option unixtime"}
	case offset%60 != 0 || offset <= -day || offset >= day:
		return problem{"RFC 3339 cannot write the offset of its zone", "store it in UTC"}
	}
	return problem{}
}

// encodeValue encodes what a method has returned: the value v or the error err. It copies v, because the next call of
// the method may use the same memory.
func (e *encoder) encodeValue(p *plan, v Value, err error, level int) (Value, error) {
	if err != nil {
		return p.encodeError(problem{}, err)
	}
	if v, err = p.inspected(v, level); err != nil || v.IsZero() {
		return Value{}, err
	}
	start := len(e.buf)
	e.buf = append(e.buf, v.raw...)
	return e.value(v.kind, start), nil
}

// inspected returns v, which other code has made. It returns an error if v is neither zero nor in its stored form.
func (p *plan) inspected(v Value, level int) (Value, error) {
	if v.IsZero() {
		return v, nil
	}
	if err := inspect(v, level); err != nil {
		return p.encodeError(problem{}, err)
	}
	return v, nil
}

func (e *encoder) encodeNumber(p *plan, v reflect.Value, o options) (Value, error) {
	start := len(e.buf)
	var digits [32]byte
	text := digits[:0]
	switch p.form {
	case formInt:
		text = strconv.AppendInt(text, v.Int(), 10)
	case formUint:
		text = strconv.AppendUint(text, v.Uint(), 10)
	case formFloat:
		text = strconv.AppendFloat(text, v.Float(), 'f', -1, v.Type().Bits())
	default:
		if text = append(text, v.String()...); !utf8.Valid(text) {
			return p.encodeError(problem{}, errText)
		}
	}
	if o.has(asString) {
		e.buf = append(e.buf, text...)
		return e.value(String, start), nil
	}

	buf, msg, older := number.Append(e.buf, text)
	if msg != "" {
		return p.encodeError(problem{}, &Error{Msg: msg, Older: older})
	}
	e.buf = buf
	return e.value(Number, start), nil
}

func (e *encoder) encodeBytes(v reflect.Value) Value {
	if v.Kind() == reflect.Slice {
		return Value{Binary, v.Bytes()}
	}
	start := len(e.buf)
	e.buf = append(e.buf, pointerTo(v).Elem().Bytes()...)
	return e.value(Binary, start)
}

func (e *encoder) encodeList(p *plan, v reflect.Value, o options, level int) (Value, error) {
	start, first := len(e.buf), len(e.elems)
	for i := range v.Len() {
		elem, err := e.encode(p.elem, v.Index(i), o.ofElements(), level+1)
		if err != nil {
			return Value{}, inElement(err, i)
		}
		if !elem.IsZero() {
			e.elems = append(e.elems, elem)
		}
	}
	return e.endList(first, start), nil
}

func (e *encoder) encodeSet(p *plan, v reflect.Value, kind Kind, o options, level int) (Value, error) {
	start, first := len(e.buf), len(e.elems)
	for i := range v.Len() {
		elem, err := e.encode(p.elem, v.Index(i), o.ofElements(), level)
		if err == nil && elem.kind != kind.Elem() && !elem.IsZero() {
			misfit := "kind " + kind.String() + " cannot hold a value of kind " + elem.kind.String()
			_, err = p.elem.encodeError(problem{misfit, "change the type or the tag"}, nil)
		}
		if err != nil {
			return Value{}, inElement(err, i)
		}
		if !elem.IsZero() {
			e.elems = append(e.elems, elem)
		}
	}

	if len(e.elems) == first {
		return NewNull(), nil
	}
	set, err := e.endSet(kind, first, start)
	if err != nil {
		return p.encodeError(problem{}, err)
	}
	return set, nil
}

func (e *encoder) encodeMap(p *plan, v reflect.Value, o options, level int) (Value, error) {
	start, first, firstName := len(e.buf), len(e.entries), len(e.names)
	key, elem := reflect.New(p.typ.Key()).Elem(), reflect.New(p.typ.Elem()).Elem()
	for entries := v.MapRange(); entries.Next(); {
		key.SetIterKey(entries)
		name, err := keyText(key)
		switch {
		case err != nil:
			return p.encodeError(problem{}, err)
		case name == "":
			return p.encodeError(problem{"a key is empty", "give each entry a name"}, nil)
		case len(name) > MaxNameBytes:
			return p.encodeError(problem{"a key is too long", "shorten it"}, nil)
		case !utf8.ValidString(name):
			return p.encodeError(notTextKey, nil)
		case !keepsKey(key, name):
			return p.encodeError(lostKey, nil)
		}

		elem.SetIterValue(entries)
		from := len(e.names)
		e.names = append(e.names, name...)
		member, err := e.encode(p.elem, elem, o.ofElements(), level+1)
		if err != nil {
			return Value{}, inAttribute(err, name)
		}
		if member.IsZero() {
			e.names = e.names[:from]
			continue
		}
		e.entries = append(e.entries, entry{from, len(e.names), member})
	}

	if members := e.entries[first:]; len(sortEntries(e.names, members)) < len(members) {
		return p.encodeError(problem{"two keys have the same text", "use keys that differ as text"}, nil)
	}
	names := e.names
	e.names = e.names[:firstName]
	return e.endMap(names, first, start), nil
}

// notTextKey is the problem with keys of maps that cannot be names of attributes.
var notTextKey = problem{"a key is not UTF-8", "encode it, in hexadecimal or in base64"}

// lostKey is the problem with map keys that decoding cannot restore from their text.
var lostKey = problem{
	"decoding cannot make the key of its text", "use strings, or a type with MarshalText and UnmarshalText",
}

// keepsKey reports whether decoding text restores the key that text comes from. Only a key whose type has methods can
// fail this.
func keepsKey(key reflect.Value, text string) bool {
	if key.Kind() != reflect.Interface && key.Addr().NumMethod() == 0 {
		return true
	}
	made := reflect.New(key.Type()).Elem()
	if setKey(made, []byte(text)) != nil {
		return false
	}
	switch key.Kind() {
	case reflect.Pointer, reflect.Struct, reflect.Array:
		again, err := keyText(made)
		return err == nil && again == text
	}
	return made.Equal(key)
}

// keyText returns the text of a key of a map.
func keyText(key reflect.Value) (string, error) {
	isNil := (key.Kind() == reflect.Pointer || key.Kind() == reflect.Interface) && key.IsNil()
	hasMethods := key.Kind() == reflect.Interface || key.NumMethod() > 0
	if hasMethods && !isNil {
		if m, ok := key.Interface().(encoding.TextMarshaler); ok {
			text, err := m.MarshalText()
			return string(text), err
		}
	}
	switch {
	case key.Kind() == reflect.String && !hasMethods:
		return key.String(), nil
	case key.Kind() == reflect.String, key.Kind() == reflect.Bool, key.CanInt(), key.CanFloat(),
		key.CanUint() && key.Kind() != reflect.Uintptr:
		// fmt.Sprint calls the type's String method, if it has one.
		return fmt.Sprint(key.Interface()), nil
	}
	return "", errKeyType
}

func (e *encoder) encodeStruct(p *plan, v reflect.Value, level int) (Value, error) {
	for i := range p.hidden {
		if inner, ok := p.hidden[i].in(v, false); ok && !inner.IsZero() {
			name := p.typ.FieldByIndex(p.hidden[i].index).Name
			what := "other fields hide the embedded field " + name + ", which holds a value"
			return p.encodeError(problem{what, "give them different names in their tags"}, nil)
		}
	}
	start, first := len(e.buf), len(e.entries)
	for i := range p.fields {
		f := &p.fields[i]
		var inner reflect.Value
		if f.direct >= 0 {
			inner = v.Field(f.direct)
		} else if in, ok := f.in(v, false); ok {
			inner = in
		} else {
			continue
		}
		member, ok := Value{}, false
		if f.encodesPlain && level < MaxNesting && inner.CanInterface() {
			if f.options != 0 && inner.IsZero() { // a plain field has no option but omitempty
				continue
			}
			member, ok = e.encodePlain(f.plan.form, inner)
		}
		if !ok {
			var err error
			if member, err = e.encode(f.plan, inner, f.options, level+1); err != nil {
				return Value{}, inAttribute(err, string(p.name(i)))
			}
		}
		if !member.IsZero() {
			e.entries = append(e.entries, entry{f.from, f.to, member})
		}
	}
	return e.endMap(p.names, first, start), nil
}

// encodePlain encodes a string, an integer or a bool. It reports false, and does nothing, for values of other forms and
// for strings that are not UTF-8.
func (e *encoder) encodePlain(f form, v reflect.Value) (value Value, ok bool) {
	start := len(e.buf)
	switch f {
	case formString:
		text := v.String()
		if !utf8.ValidString(text) {
			return Value{}, false
		}
		e.buf = append(e.buf, text...)
		return e.value(String, start), true
	case formInt:
		e.buf = number.AppendInt(e.buf, v.Int())
		return e.value(Number, start), true
	case formBool:
		e.buf = append(e.buf, 0)
		if v.Bool() {
			e.buf[start] = 1
		}
		return e.value(Bool, start), true
	}
	return Value{}, false
}
