package attr

import (
	"bytes"
	"cmp"
	"encoding/json"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/item/doc"
	"github.com/sortkey/sortkey/internal/item/number"
)

// A Value is the value of one attribute: a kind and a view of its bytes. It is small; pass it by value. The zero Value
// stands for an attribute that is missing.
type Value struct {
	kind Kind
	raw  []byte
}

// MakeValue returns the value of a kind with a payload that [Value.Raw] returned earlier, such as one that a program
// has stored elsewhere. It does not check the payload. For other bytes use [NewString], [NewBinary] or [NewNumber].
func MakeValue(kind Kind, raw []byte) Value { return Value{kind, raw} }

// NewString returns an S. It copies s, which must be UTF-8: the functions that encode or store the value refuse other
// text. Use [NewBinary] for that.
func NewString(s string) Value { return Value{String, []byte(s)} }

// NewBinary returns a B that shares b, which nobody may change afterwards.
func NewBinary(b []byte) Value { return Value{Binary, b} }

// NewBool returns a BOOL.
func NewBool(b bool) Value {
	if b {
		return Value{Bool, []byte{1}}
	}
	return Value{Bool, []byte{0}}
}

// NewNull returns a NULL. It is a value, unlike the zero [Value], which stands for a missing attribute.
func NewNull() Value { return Value{kind: Null} }

// NewNumber returns the N with the given decimal text, exact to 38 digits. [Marshal] takes Go's numbers. The error is
// an [*Error].
func NewNumber(text string) (Value, error) {
	raw, err := AppendNumber(nil, text)
	if err != nil {
		return Value{}, err
	}
	return Value{Number, raw}, nil
}

// AppendNumber appends the payload of the N with the given decimal text, for programs that reuse memory: [MakeValue]
// makes a value of the payload, and its byte order is the order of numbers. The text is an optional sign, digits with
// an optional point, and an optional exponent. The error is an [*Error].
func AppendNumber(dst []byte, text string) ([]byte, error) {
	dst, msg, older := number.Append(dst, text)
	if msg != "" {
		return dst, &Error{Msg: msg, Older: older}
	}
	return dst, nil
}

// NewList returns an L with copies of the elements. No element may be the zero Value; use [NewNull] for a NULL.
func NewList(elems ...Value) Value { return Value{List, AppendList(nil, elems)} }

// NewMap returns an M that shares the item's bytes: the attributes of the item are its entries. [Value.Map] returns
// the item of an M.
func NewMap(it Item) Value {
	if len(it) == 0 {
		it = emptyItem
	}
	return Value{Map, it}
}

// NewSet returns a set of the given kind, such as [StringSet], with copies of the elements. It returns an [*Error] for
// an empty set, an element of another kind or a duplicate.
func NewSet(kind Kind, elems ...Value) (Value, error) {
	if !kind.IsSet() {
		return Value{}, invalid("kind " + kind.String() + " is not a set")
	}
	for _, e := range elems {
		if e.kind != kind.Elem() {
			return Value{}, invalid(
				"a set of kind " + kind.String() + " cannot hold a value of kind " + e.kind.String(),
			)
		}
	}
	raw, err := appendSet(nil, kind, elems, nil)
	if err != nil {
		return Value{}, err
	}
	return Value{kind, raw}, nil
}

// Kind returns the kind, 0 for the zero Value. Look at it before you ask for the content.
func (v Value) Kind() Kind { return v.kind }

// IsZero reports whether v is the zero Value: whether [Item.Get] found nothing.
func (v Value) IsZero() bool { return v.kind == 0 }

// Raw returns the payload, which shares the bytes of the value: the text of an S, the bytes of a B, and for an N the
// form whose byte order is the order of numbers. [Value.AppendNumber] writes an N in decimal.
func (v Value) Raw() []byte { return v.raw }

// Bool returns the content of a BOOL, and false for other kinds.
func (v Value) Bool() bool { return v.kind == Bool && len(v.raw) == 1 && v.raw[0] != 0 }

// Map returns the content of an M as an item, and nil for other kinds.
func (v Value) Map() Item {
	if v.kind != Map {
		return nil
	}
	return Item(v.raw)
}

// Len returns the number of elements of a list, set or map, and 0 for other kinds.
func (v Value) Len() int {
	if v.kind == List || v.kind == Map || v.kind.IsSet() {
		return Item(v.raw).Len()
	}
	return 0
}

// Index returns element i of a list, or of a set in its stored order. It returns the zero Value when i is out of range
// or v has another kind.
func (v Value) Index(i int) Value {
	if i < 0 || i >= v.Len() {
		return Value{}
	}
	entry := doc.Entry(v.raw, i)
	switch {
	case v.kind == List:
		return Value{Kind(entry[0]), entry[1:]}
	case v.kind.IsSet():
		return Value{v.kind.Elem(), entry}
	}
	return Value{}
}

// Has reports whether elem is in the set v, by a binary search. It is false if v is not a set.
func (v Value) Has(elem Value) bool {
	if !v.kind.IsSet() || elem.kind != v.kind.Elem() {
		return false
	}
	lo, hi := 0, v.Len()
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch c := bytes.Compare(doc.Entry(v.raw, mid), elem.raw); {
		case c == 0:
			return true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return false
}

// emptySize is the documented size of an empty list or map.
const emptySize = 3

// Size returns the documented size of the value in bytes, without its name, as the service counts it for limits and
// capacity. Source: DG/CapacityUnitCalculations.html.
func (v Value) Size() int {
	switch v.kind {
	case String, Binary:
		return len(v.raw)
	case Number:
		return number.Size(v.raw)
	case Bool, Null:
		return 1
	case StringSet, NumberSet, BinarySet:
		return Item(v.raw).Size()
	case List, Map:
		return emptySize + Item(v.raw).Len() + Item(v.raw).Size()
	}
	return 0
}

// Equal reports whether two values have the same kind and are equal: numbers by value, sets in any order, documents
// deeply. It compares bytes, because each value has one stored form.
func Equal(a, b Value) bool {
	return a.kind == b.kind && bytes.Equal(a.raw, b.raw)
}

// Compare compares two values of one scalar kind as sort keys and conditions do: strings by their UTF-8 bytes, binary
// by unsigned bytes, numbers by value. It reports false when the kinds differ or have no order.
func Compare(a, b Value) (int, bool) {
	if a.kind != b.kind || !a.kind.IsScalar() {
		return 0, false
	}
	// Compare the first bytes one by one. bytes.Compare loads eight bytes even if the value has fewer. For a number
	// at the end of its item, bytes.Compare would then wait for the next cache line.
	for i := range min(len(a.raw), len(b.raw), 8) {
		if a.raw[i] != b.raw[i] {
			return cmp.Compare(a.raw[i], b.raw[i]), true
		}
	}
	return bytes.Compare(a.raw, b.raw), true
}

// emptyItem is the form of an empty map.
var emptyItem = Item(doc.Empty)

// An Attribute is a value with its name. Package keycond returns the values of a key as Attributes.
type Attribute struct {
	Name  string
	Value Value
}

// jsonAttribute is the JSON of an Attribute. It has the value in DynamoDB JSON. DynamoDB JSON cannot hold a string
// that is not UTF-8, such as the end of a range may be, so text has the bytes of such a string instead.
type jsonAttribute struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value,omitempty"`
	Text  []byte          `json:"text,omitempty"`
}

// MarshalJSON implements [encoding/json.Marshaler].
func (a Attribute) MarshalJSON() ([]byte, error) {
	j := jsonAttribute{Name: a.Name}
	if a.Value.kind == String && !utf8.Valid(a.Value.raw) {
		j.Text = a.Value.raw
	} else {
		j.Value = a.Value.AppendJSON(nil)
	}
	return json.Marshal(j)
}

// UnmarshalJSON implements [encoding/json.Unmarshaler].
func (a *Attribute) UnmarshalJSON(text []byte) (err error) {
	var j jsonAttribute
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	a.Name, a.Value = j.Name, MakeValue(String, j.Text)
	if j.Text == nil {
		a.Value, err = ParseValue(j.Value)
	}
	return err
}
