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

// TypeNames returns the names of all types, in the order of the package
// documentation.
func TypeNames() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
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
