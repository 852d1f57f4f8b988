package keys

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Type defines how the value of a component becomes a part of a key. Most programs only name types in templates;
// make a Type to build or check single parts. The zero Type is a string. The package documentation lists the types.
type Type struct {
	// Name is one of [TypeNames].
	Name string
	// Width is a number of digits, of bytes for a string of fixed length, or of hexadecimal digits for hex. For a
	// decimal, it counts the digits before the point, and Scale those after the point.
	Width, Scale int
	// Values are the values of an enum, in their order.
	Values []string
	// Desc reverses the order of keys.
	Desc bool
}

// TypeNames returns the names of all types, in the order of the package documentation, for messages and completion.
func TypeNames() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// String returns the type as written in templates, which [ParseType] reads.
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

// Canonical returns the canonical form of text: 7 for 007, and UTC for a time with a zone. Two texts are the same value
// if their canonical forms are equal. It truncates a time to the precision of the type. The error is an [*Error].
func (t Type) Canonical(text string) (string, error) {
	k, err := t.kind()
	if err != nil {
		return "", err
	}
	return k.canonical(t, text)
}

// Encode returns the bytes that stand for a value in a key. The value is in text form. The error is an [*Error].
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

// Decode returns the value that a part of a key stands for, in canonical text form. It accepts only parts that
// [Type.Encode] returns. The error is an [*Error].
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
			return "", invalid(t, part, "is not a valid "+t.String()+" in a key", "")
		}
	}
	again, err := k.part(t, text)
	if err != nil && t.Desc {
		return "", invalid(t, part, "is not a valid "+t.String()+" in a key", "")
	} else if err != nil {
		return "", err
	}
	if again != part {
		return "", invalid(t, part, "is not a valid "+t.String()+" in a key", "write "+clip(again))
	}
	return k.canonical(t, text)
}

// Ordered reports whether parts sort as their values do, or for a reversed type in the opposite order.
// [Template.Between] needs such a type. Ordered is false for number, and for an enum whose values are not listed in
// byte order.
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

// Fixed returns the number of bytes of a part and true if all parts have the same length, else 0 and false. A
// component of fixed length needs no delimiter.
func (t Type) Fixed() (width int, ok bool) {
	k, err := t.kind()
	if err != nil || k.width == nil {
		return 0, false
	}
	width = k.width(t)
	return width, width > 0
}

// Compare compares two values in text form in the order that their keys should have: numbers by size, the values of
// an enum by their place in its list, and reversed types the other way round. For a type that is [Type.Ordered], the
// parts sort in this order too. For any other type, use Compare to sort or to check values.
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

// complement replaces each digit d by 9-d, which reverses the order of texts
// with digits at the same places.
func complement(s string) string {
	b := []byte(s)
	for i, c := range b {
		if '0' <= c && c <= '9' {
			b[i] = '9' - (c - '0')
		}
	}
	return string(b)
}

// EncodePrefix returns the common beginning of the parts of all values that
// begin with partial: 2026-01 for the dates of a month. Types whose parts do
// not begin like their values, such as int, have no such prefix. The error is
// an [*Error].
func (t Type) EncodePrefix(partial string) (string, error) {
	k, err := t.kind()
	if err != nil {
		return "", err
	}
	if k.prefix == nil {
		return "", invalid(
			t, partial, "cannot be a prefix of keys of type "+t.String(),
			"keys of this type are padded to sort by value: use a range with two bounds",
		)
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

// fixedText returns s. It returns an error if s is not UTF-8, or if t has a width and s has another number of bytes.
func fixedText(t Type, s string) (string, error) {
	if t.Width > 0 && len(s) != t.Width {
		return "", invalid(
			t, s, "has "+strconv.Itoa(len(s))+" bytes, not "+strconv.Itoa(t.Width),
			"pass a value of that length, or use the type string",
		)
	}
	return text(t, s)
}

// text returns the canonical form of a string, which is the string itself.
func text(t Type, s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", invalid(
			t, s, "is not UTF-8",
			"keys of type S must be UTF-8; store bytes in an attribute of type B, or encode them with hex",
		)
	}
	return s, nil
}
