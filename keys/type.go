package keys

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Type says how the value of a component becomes a part of a key. Its zero
// value is a string. The table in the package documentation lists them.
type Type struct {
	// Name is one of [TypeNames].
	Name string
	// Width is the number of digits before the point, or of a hex; Scale those
	// after the point.
	Width, Scale int
	// Values are those of an enum, in the order that values have.
	Values []string
	// Desc reverses the order of keys.
	Desc bool
}

// A kind is what the types of one name have in common. Its functions know
// nothing of Desc and get only types that its params accept.
type kind struct {
	name   string
	params params
	// ordered says that byte order is value order, digits that a reversed
	// order exists: the part is made of digits at fixed places.
	ordered, digits bool
	// canonical returns the one text form of the value in text.
	canonical func(t Type, text string) (string, error)
	// encode makes a part of canonical text and decode undoes it. A nil encode
	// is the identity. decode may be lenient: what it returns is encoded again.
	encode func(t Type, text string) (string, error)
	decode func(t Type, part string) (string, error)
	// width is the bytes of every part, 0 when they differ.
	width func(t Type) int
	// compare is the order of values in canonical form; nil is byte order.
	compare func(t Type, a, b string) int
	// prefix makes what all parts begin with of text that the values begin
	// with. It is nil for types whose parts do not begin as their values do.
	prefix func(t Type, text string) (string, error)
	// layout is how the canonical form of a time is written.
	layout string
}

// params are the parameters that a kind takes.
type params int

const (
	noParams params = iota
	oneWidth
	widthAndScale
	valueList
)

var kinds = []*kind{
	{name: "string", ordered: true, canonical: text, prefix: text},
	{name: "path", ordered: true, canonical: text, prefix: text},
	{
		name: "int", params: oneWidth, ordered: true, digits: true, canonical: canonicalInt, encode: encodeInt, decode: decodeInt,
		width: func(t Type) int { return t.Width }, compare: compareNumbers,
	},
	{
		name: "signed", params: oneWidth, ordered: true, digits: true, canonical: canonicalSigned, encode: encodeSigned, decode: decodeSigned,
		width: func(t Type) int { return 1 + t.Width }, compare: compareNumbers,
	},
	{
		name: "decimal", params: widthAndScale, ordered: true, digits: true, canonical: canonicalDecimal, encode: encodeSigned, decode: decodeSigned,
		width: decimalWidth, compare: compareNumbers,
	},
	{name: "number", canonical: canonicalNumber, compare: compareNumbers, prefix: text},
	timeKind("year", "2006"),
	timeKind("month", "2006-01"),
	timeKind("date", "2006-01-02"),
	timeKind("time", secondsLayout),
	timeKind("millis", millisLayout),
	timeKind("micros", "2006-01-02T15:04:05.000000Z"),
	timeKind("nanos", "2006-01-02T15:04:05.000000000Z"),
	epochKind("epoch", epochDigits, secondsLayout),
	epochKind("epochms", epochDigits+3, millisLayout),
	{name: "uuid", ordered: true, canonical: canonicalUUID, prefix: prefixLower, width: func(Type) int { return 36 }},
	{name: "ulid", ordered: true, canonical: canonicalULID, prefix: prefixUpper, width: func(Type) int { return 26 }},
	{name: "ksuid", ordered: true, canonical: canonicalKSUID, prefix: text, width: func(Type) int { return len(maxKSUID) }},
	{name: "hex", params: oneWidth, ordered: true, canonical: canonicalHex, prefix: prefixLower, width: func(t Type) int { return t.Width }},
	{name: "enum", params: valueList, canonical: canonicalEnum, prefix: text, width: enumWidth, compare: compareEnum},
}

var kindOf = func() map[string]*kind {
	m := map[string]*kind{"": kinds[0]}
	for _, k := range kinds {
		m[k.name] = k
	}
	return m
}()

// TypeNames returns the names of all types, in the order of the package
// documentation.
func TypeNames() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// kind returns the kind of t when there is such a type.
func (t Type) kind() (*kind, error) {
	k, ok := kindOf[t.Name]
	if !ok {
		return nil, &Error{Type: t.Name, Msg: "there is no type " + strconv.Quote(t.Name), Advice: "the types are " + strings.Join(TypeNames(), ", ")}
	}
	if msg, advice := k.check(t); msg != "" {
		return nil, &Error{Type: t.String(), Msg: msg, Advice: advice}
	}
	return k, nil
}

// The most digits a number of the service has, and bytes a sort key.
const (
	mostDigits = 38
	mostBytes  = 1024
)

func (k *kind) check(t Type) (msg, advice string) {
	if t.Desc && !k.digits {
		return k.name + " has no reversed order", "only the types that are written in digits of fixed number have one: int, signed, decimal and the times"
	}
	if k.params != valueList && len(t.Values) > 0 || k.params != widthAndScale && t.Scale != 0 ||
		k.params != oneWidth && k.params != widthAndScale && t.Width != 0 {
		return k.name + " does not take these parameters", "write " + k.example()
	}
	most := mostDigits
	if k.name == "hex" {
		most = mostBytes
	}
	switch k.params {
	case oneWidth:
		if t.Width < 1 || t.Width > most {
			return k.name + " needs the number of its digits, from 1 to " + strconv.Itoa(most), "write " + k.example()
		}
	case widthAndScale:
		if t.Width < 1 || t.Scale < 0 || t.Width > most || t.Scale > most || t.Width+t.Scale > most {
			return k.name + " needs the number of its digits before and after the point, together at most " + strconv.Itoa(most), "write " + k.example()
		}
	case valueList:
		return checkValues(t.Values)
	}
	return "", ""
}

func (k *kind) example() string {
	switch k.params {
	case oneWidth:
		return k.name + "(8)"
	case widthAndScale:
		return k.name + "(8,2)"
	case valueList:
		return k.name + "(NEW,PAID,SHIPPED)"
	}
	return k.name
}

// ParseType reads a type as templates write it: int(8), enum(a,b), time:desc.
// Its errors are an [*Error].
func ParseType(text string) (Type, error) {
	t := Type{}
	head, desc := strings.CutSuffix(text, ":desc")
	t.Desc = desc
	name, list, has := strings.Cut(head, "(")
	t.Name = strings.TrimSpace(name)
	k, ok := kindOf[t.Name]
	if !ok || t.Name == "" {
		return Type{}, &Error{Type: text, Msg: "there is no type " + clip(t.Name), Advice: "the types are " + strings.Join(TypeNames(), ", ")}
	}
	if has {
		inner, closed := strings.CutSuffix(list, ")")
		if !closed {
			return Type{}, &Error{Type: text, Msg: "the parameters of " + t.Name + " are not closed", Advice: "write " + k.example()}
		}
		if err := t.setParams(k, strings.Split(inner, ",")); err != nil {
			err.Type = text
			return Type{}, err
		}
	}
	if _, err := t.kind(); err != nil {
		return Type{}, err
	}
	return t, nil
}

func (t *Type) setParams(k *kind, list []string) *Error {
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	if k.params == valueList {
		t.Values = list
		return nil
	}
	places := []*int{&t.Width, &t.Scale}
	if k.params == noParams || len(list) > len(places) || k.params == oneWidth && len(list) > 1 {
		return &Error{Msg: t.Name + " does not take these parameters", Advice: "write " + k.example()}
	}
	for i, s := range list {
		n, err := strconv.ParseUint(s, 10, 16)
		if err != nil {
			return &Error{Msg: "the parameter " + clip(s) + " of " + t.Name + " is not a number of digits", Advice: "write " + k.example()}
		}
		*places[i] = int(n)
	}
	return nil
}

// String returns the type as templates write it.
func (t Type) String() string {
	name := t.Name
	if name == "" {
		name = "string"
	}
	switch {
	case len(t.Values) > 0:
		name += "(" + strings.Join(t.Values, ",") + ")"
	case name == "decimal" || t.Scale != 0:
		name += "(" + strconv.Itoa(t.Width) + "," + strconv.Itoa(t.Scale) + ")"
	case t.Width != 0:
		name += "(" + strconv.Itoa(t.Width) + ")"
	}
	if t.Desc {
		name += ":desc"
	}
	return name
}

// Canonical returns the one text form of the value that text writes: 7 for
// 007, and a time in UTC for a time with a zone. A time is cut to the
// precision of the type. Its errors are an [*Error].
func (t Type) Canonical(text string) (string, error) {
	k, err := t.kind()
	if err != nil {
		return "", err
	}
	return k.canonical(t, text)
}

// Encode returns the part of a key for a value in its text form. Its errors
// are an [*Error].
func (t Type) Encode(text string) (string, error) {
	k, err := t.kind()
	if err != nil {
		return "", err
	}
	return k.part(t, text)
}

func (k *kind) part(t Type, text string) (string, error) {
	part, err := k.canonical(t, text)
	if err == nil && k.encode != nil {
		part, err = k.encode(t, part)
	}
	if err != nil {
		return "", err
	}
	if t.Desc {
		part = complement(part)
	}
	return part, nil
}

// Decode returns the canonical text form of the value in a part of a key. It
// takes nothing that [Type.Encode] does not make. Its errors are an [*Error].
func (t Type) Decode(part string) (string, error) {
	k, err := t.kind()
	if err != nil {
		return "", err
	}
	text := part
	if t.Desc {
		text = complement(part)
	}
	if k.decode != nil {
		if text, err = k.decode(t, text); err != nil {
			return "", invalid(t, part, "is no part that "+t.String()+" makes", "")
		}
	}
	again, err := k.part(t, text)
	if err != nil && t.Desc {
		return "", invalid(t, part, "is no part that "+t.String()+" makes", "")
	} else if err != nil {
		return "", err
	}
	if again != part {
		return "", invalid(t, part, "is no part that "+t.String()+" makes", "it would be "+clip(again))
	}
	return k.canonical(t, text)
}

// Ordered reports whether the byte order of parts is the order of the values,
// or its reverse when the type is. It is not for number, nor for an enum whose
// values are not listed in byte order.
func (t Type) Ordered() bool {
	k, err := t.kind()
	if err != nil {
		return false
	}
	if k.params == valueList {
		return slices.IsSorted(t.Values)
	}
	return k.ordered
}

// Fixed returns the bytes of every part, and whether all have that many.
func (t Type) Fixed() (width int, ok bool) {
	k, err := t.kind()
	if err != nil || k.width == nil {
		return 0, false
	}
	width = k.width(t)
	return width, width > 0
}

// Compare returns the order that the keys of two values in text form should
// have: that of the values, numbers by size, an enum by its list, reversed
// when the type is. For a type that is [Type.Ordered] it is the order of their
// parts.
func (t Type) Compare(a, b string) (int, error) {
	k, err := t.kind()
	if err != nil {
		return 0, err
	}
	if a, err = k.canonical(t, a); err != nil {
		return 0, err
	}
	if b, err = k.canonical(t, b); err != nil {
		return 0, err
	}
	c := strings.Compare(a, b)
	if k.compare != nil {
		c = k.compare(t, a, b)
	}
	if t.Desc {
		c = -c
	}
	return c, nil
}

// variable reports whether parts have different lengths.
func (t Type) variable() bool {
	_, fixed := t.Fixed()
	return !fixed
}

// complement turns each digit into nine less it, which reverses the order of
// texts that have their digits at the same places.
func complement(s string) string {
	b := []byte(s)
	for i, c := range b {
		if '0' <= c && c <= '9' {
			b[i] = '9' - (c - '0')
		}
	}
	return string(b)
}

// EncodePrefix returns what the parts of all values begin with whose text form
// begins with partial: 2026-01 for the dates of a month. Types whose parts do
// not begin as their values do, such as int, have none. Its errors are an
// [*Error].
func (t Type) EncodePrefix(partial string) (string, error) {
	k, err := t.kind()
	if err != nil {
		return "", err
	}
	if k.prefix == nil {
		return "", invalid(t, partial, "is not the beginning of keys of "+t.String(), "its parts are padded, so that they sort by value: ask for values between two bounds")
	}
	part, err := k.prefix(t, partial)
	if width, fixed := t.Fixed(); err == nil && fixed && len(part) > width {
		err = invalid(t, partial, "is longer than every "+t.Name, "")
	}
	if err != nil {
		return "", err
	}
	if t.Desc {
		part = complement(part)
	}
	return part, nil
}

// text is the canonical form of what stands for itself.
func text(t Type, s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", invalid(t, s, "is not UTF-8", "keys of type S are; store bytes in an attribute of type B, or encode them with hex")
	}
	return s, nil
}
