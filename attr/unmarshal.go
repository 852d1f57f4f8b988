package attr

import (
	"bytes"
	"encoding"
	"errors"
	"reflect"
	"strconv"
	"time"

	"github.com/sortkey/sortkey/internal/item/doc"
	"github.com/sortkey/sortkey/internal/item/number"
)

// Unmarshal stores a value in what dst points to. The error is a [*ConvertError]; dst may
// have been changed in part by then.
//
// It follows package attributevalue of the AWS SDK with default options: it reads what [Marshal]
// writes, and more:
//
//   - An attribute is stored in the field with its name, or else in one whose name differs in
//     case only. Attributes without a field are ignored, and fields without an attribute keep
//     what they have.
//   - An N is stored in any type of number in which it fits, and also in strings and times.
//     An S is stored in a [time.Time] if it is in RFC 3339.
//   - Lists and sets are stored in slices and arrays. An array keeps as many elements as it
//     has.
//   - Maps are stored in structs and maps. A map keeps its other entries.
//   - NULL is the zero value of any type.
//   - Pointers are allocated as needed.
//   - In an interface without methods, an S is a string, an N a float64, a B a []byte, a BOOL
//     a bool, an L a []any, and an M a map[string]any; sets are []string, []float64 and
//     [][]byte. If the interface holds a pointer, the value is stored in what it points to.
//
// A type that would lose its content by these rules is decoded by its UnmarshalText from an
// S, and by its UnmarshalBinary from a B. An [Unmarshaler] decodes itself. Unmarshal refuses a struct
// of which [Marshal] would lose a field because of the field's name, tag or embedding.
//
// Nothing in dst shares bytes with v, and slices are always new. The strings of a struct may share one allocation of
// at most 64 bytes for each field of type string, so a program that keeps one of them keeps the others.
func Unmarshal(v Value, dst any) error {
	if v.IsZero() {
		v = NewNull()
	}
	return unmarshal(v, dst, 1)
}

// UnmarshalItem stores an item in the variable that dst points to: a struct, a map or an interface. Use it for items
// from a query or in a visit function; package sortkey calls it for tables of structs. It follows the rules of
// [Unmarshal] and returns the same errors.
func UnmarshalItem(it Item, dst any) error { return unmarshal(Value{Map, it}, dst, 0) }

// unmarshal decodes v at a level of nesting: 0 for items, 1 for values of attributes.
func unmarshal(v Value, dst any, level int) error {
	pointer := reflect.ValueOf(dst)
	if pointer.Kind() != reflect.Pointer || pointer.IsNil() {
		return &ConvertError{
			Type: reflect.TypeOf(dst), Kind: v.kind, Msg: "the destination is not a pointer to a variable",
			Advice: "pass the address of one, such as &x",
		}
	}
	var d decoder
	return d.decode(planOf(pointer.Type().Elem()), v, pointer.Elem(), 0, level)
}

// A decoder converts stored values to Go values.
type decoder struct {
	// number of interfaces entered on the way to the current destination; each held a pointer, which the decoder
	// followed
	hops int
}

// decodeError returns the error for a value v that a destination of the plan's type cannot hold.
func (p *plan) decodeError(v Value, what problem, cause error) error {
	return &ConvertError{Type: p.typ, Kind: v.kind, Msg: what.msg, Advice: what.advice, Err: cause}
}

// mismatch returns the error for a value whose kind does not fit the plan's type.
func (p *plan) mismatch(v Value) error {
	return p.decodeError(v, problem{advice: "change the type of the field, or the attribute"}, nil)
}

// decode stores v in dst.
func (d *decoder) decode(p *plan, v Value, dst reflect.Value, o options, level int) error {
	if p.decodesPlain && !o.has(asString) && level <= MaxNesting && dst.CanSet() && setPlain(p.form, v, dst) {
		return nil
	}
	return d.decodeFull(p, v, dst, o, level)
}

// decodeFull is decode without the shortcut for plain values.
func (d *decoder) decodeFull(p *plan, v Value, dst reflect.Value, o options, level int) error {
	switch {
	case level > MaxNesting:
		return p.decodeError(v, problem{}, ErrNesting)
	case p.noDecode.msg != "":
		return p.decodeError(v, p.noDecode, nil)
	case v.kind == Null && !p.unmarshals && p.form != formValue:
		if dst.CanSet() {
			dst.SetZero()
		}
		return nil
	case p.form == formPointer:
		if dst.IsNil() {
			if !dst.CanSet() {
				return p.decodeError(v, unexported, nil)
			}
			dst.Set(reflect.New(p.typ.Elem()))
		}
		return d.decode(p.elem, v, dst.Elem(), o, level)
	case p.form == formInterface:
		return d.decodeInterface(p, v, dst, o, level)
	case !dst.CanSet() && (p.form != formStruct || p.unmarshals):
		return p.decodeError(v, unexported, nil)
	case p.unmarshals:
		return p.decoded(v, dst.Addr().Interface().(Unmarshaler).UnmarshalAttr(v))
	case p.form == formValue:
		*dst.Addr().Interface().(*Value) = Value{v.kind, bytes.Clone(v.raw)}
		return nil
	}

	switch v.kind {
	case String:
		return d.decodeString(p, v, dst, o)
	case Number:
		var buf [64]byte
		return p.decodeDigits(v, number.AppendText(buf[:0], v.raw), dst)
	case Binary:
		return d.decodeBinary(p, v, dst)
	case Bool:
		if p.form == formBool {
			dst.SetBool(v.Bool())
			return nil
		}
	case List, StringSet, NumberSet, BinarySet:
		if p.elem != nil && p.form != formMap && p.form != formItem {
			return d.decodeList(p, v, dst, level)
		}
	case Map:
		switch {
		case p.form == formItem:
			dst.SetBytes(bytes.Clone(NewMap(Item(v.raw)).raw))
			return nil
		case p.form == formMap:
			return d.decodeMap(p, v, dst, level)
		case p.typ.Kind() == reflect.Struct:
			return d.decodeStruct(p, v, dst, level)
		}
	}
	return p.mismatch(v)
}

// setPlain stores an S in a string, a BOOL in a bool, or a whole N of at most 18 digits in a number. Most fields are
// one of these. For any other pair, it does nothing and returns false.
func setPlain(f form, v Value, dst reflect.Value) bool {
	switch {
	case v.kind == String && f == formString:
		dst.SetString(string(v.raw))
		return true
	case v.kind == Number && f != formString && f != formBool:
		n, ok := number.Int(v.raw)
		return ok && setInt(f, n, dst)
	case v.kind == Bool && f == formBool:
		dst.SetBool(v.Bool())
		return true
	}
	return false
}

// exactInts is 2^53. Above it, a float64 cannot hold every integer.
const exactInts = 1 << 53

// setInt stores an integer in a number of the given form. It returns false if the integer does not fit exactly.
func setInt(f form, n int64, dst reflect.Value) bool {
	switch {
	case f == formInt && !dst.OverflowInt(n):
		dst.SetInt(n)
	case f == formUint && n >= 0 && !dst.OverflowUint(uint64(n)):
		dst.SetUint(uint64(n))
	case f == formFloat && -exactInts < n && n < exactInts:
		dst.SetFloat(float64(n))
	default:
		return false
	}
	return true
}

// decodeInterface stores v in an interface. If the interface holds a pointer, it stores v in what that points to. If
// it holds a map and v is an M, it stores the entries in that map.
func (d *decoder) decodeInterface(p *plan, v Value, dst reflect.Value, o options, level int) error {
	switch held := dst.Elem(); {
	case held.Kind() == reflect.Pointer && !held.IsNil():
		if d.hops == maxHops {
			return p.decodeError(v, problem{"too many interfaces inside each other", nestingAdvice}, nil)
		}
		d.hops++
		err := d.decode(planOf(held.Type().Elem()), v, held.Elem(), o, level)
		d.hops--
		return err
	case held.Kind() == reflect.Map && !held.IsNil() && v.kind == Map:
		return d.decodeMap(planOf(held.Type()), v, held, level)
	case p.typ.NumMethod() > 0:
		return p.decodeError(v, hasMethods, nil)
	}

	if v.kind == String && o.has(asString) {
		f, err := strconv.ParseFloat(string(v.raw), 64)
		if err != nil {
			return p.misfit(v, v.raw)
		}
		dst.Set(reflect.ValueOf(f))
		return nil
	}
	content, err := p.dynamic(v, level)
	if err == nil {
		dst.Set(reflect.ValueOf(content))
	}
	return err
}

// hasMethods is the problem with an interface that has methods: decoding does not know which type to store in it.
var hasMethods = problem{"the interface has methods", "store a pointer in it before, or use another type"}

// dynamic returns the Go value that v becomes in an interface without methods. v must not be NULL.
func (p *plan) dynamic(v Value, level int) (any, error) {
	if level > MaxNesting {
		return nil, p.decodeError(v, problem{}, ErrNesting)
	}
	if !v.isWhole() {
		return nil, p.decodeError(v, problem{}, errDamaged)
	}
	switch v.kind {
	case String:
		return string(v.raw), nil
	case Number:
		return float(v), nil
	case Binary:
		return bytesOf(v), nil
	case Bool:
		return v.Bool(), nil
	case StringSet:
		return elements(v, func(elem Value) string { return string(elem.raw) }), nil
	case NumberSet:
		return elements(v, float), nil
	case BinarySet:
		return elements(v, bytesOf), nil
	case List:
		list := make([]any, v.Len())
		for i := range list {
			elem := v.Index(i)
			if elem.kind == Null {
				continue
			}
			content, err := p.dynamic(elem, level+1)
			if err != nil {
				return nil, inElement(err, i)
			}
			list[i] = content
		}
		return list, nil
	}

	members := make(map[string]any, v.Len())
	for name, elem := range v.Map().All() {
		if elem.kind == Null {
			members[string(name)] = nil
			continue
		}
		content, err := p.dynamic(elem, level+1)
		if err != nil {
			return nil, inAttribute(err, string(name))
		}
		members[string(name)] = content
	}
	return members, nil
}

// float returns the float64 that is closest to an N.
func float(v Value) float64 {
	var buf [64]byte
	// no error, because a float64 has the range of every N
	f, _ := strconv.ParseFloat(string(number.AppendText(buf[:0], v.raw)), 64)
	return f
}

// bytesOf returns a copy of the bytes of a B, never nil.
func bytesOf(v Value) []byte { return append([]byte{}, v.raw...) }

// elements returns the elements of a set.
func elements[T any](set Value, element func(Value) T) []T {
	out := make([]T, set.Len())
	for i := range out {
		out[i] = element(set.Index(i))
	}
	return out
}

func (d *decoder) decodeString(p *plan, v Value, dst reflect.Value, o options) error {
	switch {
	case o.has(asString):
		return p.decodeDigits(v, v.raw, dst)
	case p.form == formString || p.form == formDigits:
		dst.SetString(string(v.raw))
		return nil
	case p.form == formTime:
		t, err := time.Parse(time.RFC3339, string(v.raw))
		if err != nil {
			misfit := problem{quoted(v.raw) + " is not a time", "store times as RFC 3339, or as seconds in an N"}
			return p.decodeError(v, misfit, err)
		}
		*timeIn(dst) = t
		return nil
	case p.isOpaque:
		if m, ok := dst.Addr().Interface().(encoding.TextUnmarshaler); ok {
			return p.decoded(v, m.UnmarshalText(bytes.Clone(v.raw)))
		}
	}
	return p.mismatch(v)
}

// decoded wraps err, which a method returned when it decoded v, in a ConvertError. For a nil err it returns nil.
func (p *plan) decoded(v Value, err error) error {
	if err == nil {
		return nil
	}
	return p.decodeError(v, problem{}, err)
}

// decodeDigits stores the number with the given text in dst.
func (p *plan) decodeDigits(v Value, text []byte, dst reflect.Value) error {
	if p.form == formTime || p.form == formUnixTime && v.kind == Number {
		seconds, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return p.misfit(v, text)
		}
		*timeIn(dst) = time.Unix(seconds, 0)
		return nil
	}
	isNumber, fits := setNumber(dst, text)
	switch {
	case !isNumber:
		return p.mismatch(v)
	case !fits:
		return p.misfit(v, text)
	}
	return nil
}

// misfit returns the error for the text of a number that the plan's type cannot hold.
func (p *plan) misfit(v Value, text []byte) error {
	misfit := problem{quoted(text) + " does not fit", "use a type that holds it, such as float64 or string"}
	return p.decodeError(v, misfit, nil)
}

// setNumber sets dst to the number with the given text. It reports whether the type of dst can hold numbers, and
// whether it can hold this one.
func setNumber(dst reflect.Value, text []byte) (isNumber, fits bool) {
	switch kind := dst.Kind(); {
	case kind == reflect.String:
		dst.SetString(string(text))
		return true, true
	case dst.CanInt():
		n, err := strconv.ParseInt(string(text), 10, dst.Type().Bits())
		dst.SetInt(n)
		return true, err == nil
	case dst.CanUint() && kind != reflect.Uintptr:
		n, err := strconv.ParseUint(string(text), 10, dst.Type().Bits())
		dst.SetUint(n)
		return true, err == nil
	case dst.CanFloat():
		f, err := strconv.ParseFloat(string(text), 64)
		dst.SetFloat(f)
		return true, err == nil && !dst.OverflowFloat(f)
	}
	return false, false
}

// quoted returns text in quotes, and only the beginning of a long one.
func quoted(text []byte) string {
	const most = 40
	if len(text) <= most {
		return strconv.Quote(string(text))
	}
	return strconv.Quote(string(text[:most])) + "…"
}

func (d *decoder) decodeBinary(p *plan, v Value, dst reflect.Value) error {
	switch {
	case p.form == formBytes && dst.Kind() == reflect.Slice:
		dst.SetBytes(bytesOf(v))
		return nil
	case p.form == formBytes && dst.Len() == len(v.raw):
		copy(dst.Bytes(), v.raw)
		return nil
	case p.form == formBytes:
		misfit := problem{strconv.Itoa(len(v.raw)) + " bytes do not fit", "use a slice, or an array of that length"}
		return p.decodeError(v, misfit, nil)
	case p.isOpaque:
		if m, ok := dst.Addr().Interface().(encoding.BinaryUnmarshaler); ok {
			return p.decoded(v, m.UnmarshalBinary(bytes.Clone(v.raw)))
		}
	}
	return p.mismatch(v)
}

func (d *decoder) decodeList(p *plan, v Value, dst reflect.Value, level int) error {
	if !v.isWhole() {
		return p.decodeError(v, problem{}, errDamaged)
	}
	n := v.Len()
	switch {
	case dst.Kind() == reflect.Array:
		dst.SetZero()
		n = min(n, dst.Len())
	case n == 0:
		dst.Set(reflect.MakeSlice(p.typ, 0, 0))
	default:
		dst.SetZero()
		dst.Grow(n)
		dst.SetLen(n)
	}

	if v.kind == List {
		level++
	}
	for i := range n {
		if err := d.decode(p.elem, v.Index(i), dst.Index(i), 0, level); err != nil {
			return inElement(err, i)
		}
	}
	return nil
}

func (d *decoder) decodeMap(p *plan, v Value, dst reflect.Value, level int) error {
	if !v.isWhole() {
		return p.decodeError(v, problem{}, errDamaged)
	}
	if dst.IsNil() {
		dst.Set(reflect.MakeMapWithSize(p.typ, v.Len()))
	}
	key, elem := reflect.New(p.typ.Key()).Elem(), reflect.New(p.typ.Elem()).Elem()
	for name, member := range v.Map().All() {
		key.SetZero()
		if err := setKey(key, name); err != nil {
			return p.decodeError(v, problem{"cannot make a key of " + quoted(name), ""}, err)
		}
		elem.SetZero()
		if err := d.decode(p.elem, member, elem, 0, level+1); err != nil {
			return inAttribute(err, string(name))
		}
		dst.SetMapIndex(key, elem)
	}
	return nil
}

// setKey sets a key of a map to the value of its text.
func setKey(key reflect.Value, text []byte) error {
	if key.Kind() == reflect.Pointer && key.Type().Implements(textUnmarshalerType) {
		key.Set(reflect.New(key.Type().Elem()))
		key = key.Elem()
	}
	if m, ok := key.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return m.UnmarshalText(bytes.Clone(text))
	}
	if key.Kind() == reflect.Bool {
		b, err := strconv.ParseBool(string(text))
		key.SetBool(b)
		return err
	}
	isNumber, fits := setNumber(key, text)
	switch {
	case !isNumber:
		return errKeyType
	case !fits:
		return errors.New(quoted(text) + " does not fit the type of the keys")
	}
	return nil
}

func (d *decoder) decodeStruct(p *plan, v Value, dst reflect.Value, level int) error {
	if !v.isWhole() {
		return p.decodeError(v, problem{}, errDamaged)
	}

	// The strings of a small item share one allocation.
	it, text := v.Map(), ""
	if len(it) <= p.sharedBytes {
		text = string(it)
	}

	// Fields and attributes are both sorted by name.
	next := 0
	for i := range it.Len() {
		name, member := it.At(i)
		at := next
		if at == len(p.fields) || string(p.name(at)) != string(name) {
			at = p.seek(max(next-1, 0), name)
		}
		if next = at; at < len(p.fields) && string(p.name(at)) == string(name) {
			next++ // the next attribute usually belongs to the next field
		} else if at = p.fold(it, name); at < 0 {
			continue
		}

		f := &p.fields[at]
		var inner reflect.Value
		ok := true
		if f.direct >= 0 {
			inner = dst.Field(f.direct)
		} else {
			inner, ok = f.in(dst, true)
		}
		var err error
		switch {
		case !ok:
			err = f.plan.decodeError(member, unexported, nil)
		case text != "" && member.kind == String && f.decodesText && level < MaxNesting && inner.CanSet():
			end := doc.Offset(it, i+1)
			inner.SetString(text[end-len(member.raw) : end])
		default:
			err = d.decode(f.plan, member, inner, f.options, level+1)
		}
		if err != nil {
			return inAttribute(err, string(name))
		}
	}
	return nil
}

// seek returns the index of the first field, from next on, whose name is not before name.
func (p *plan) seek(next int, name []byte) int {
	for next < len(p.fields) && bytes.Compare(p.name(next), name) < 0 {
		next++
	}
	return next
}
