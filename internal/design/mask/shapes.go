package mask

import (
	"crypto/rand"
	"encoding/hex"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/keys"
)

// Shapes replace values by others of the same shape, as rules with as: shape do: equal values by equal
// ones, different values by different ones.
type Shapes struct{ mint mint }

// NewShapes returns the shapes of a seed. Without one nobody can find out what a stand-in stands for.
func NewShapes(seed string) Shapes {
	if seed == "" {
		seed = rand.Text()
	}
	return Shapes{mint{[]byte(seed)}}
}

// Value returns the stand-in of a value of a type, in text form. It fails for times and other types whose
// values have no others of their shape.
func (s Shapes) Value(t keys.Type, text string) (string, error) {
	return s.mint.value(shape, "", t, text)
}

// Digits returns a text with other digits and the same letters.
func (s Shapes) Digits(text string) string {
	return s.mint.shaped(text, func(r rune) (class, bool) {
		c, ok := characters(r)
		return c, ok && c.radix == 10
	})
}

// Left returns what Attribute leaves of a value: the names of members of maps, and Booleans.
func (s Shapes) Left(v attr.Value) (parts []Part) {
	add := func(part Part) {
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	switch v.Kind() {
	case attr.Bool:
		add(Booleans)
	case attr.Map:
		for _, inner := range v.Map().All() {
			add(Names)
			for _, part := range s.Left(inner) {
				add(part)
			}
		}
	case attr.List:
		for i := range v.Len() {
			for _, part := range s.Left(v.Index(i)) {
				add(part)
			}
		}
	}
	return parts
}

// Attribute returns the stand-in of a value, with those of everything in it, except what Left returns.
func (s Shapes) Attribute(v attr.Value) attr.Value {
	switch v.Kind() {
	case attr.String:
		return attr.NewString(s.mint.text(shape, "", string(v.Raw())))
	case attr.Number:
		if n, err := attr.NewNumber(s.mint.number(string(v.AppendNumber(nil)))); err == nil {
			return n
		}
	case attr.Binary:
		if raw, err := hex.DecodeString(s.mint.shaped(hex.EncodeToString(v.Raw()), hexadecimal)); err == nil {
			return attr.NewBinary(raw)
		}
	case attr.Map:
		var b attr.Builder
		for name, inner := range v.Map().All() {
			b.AddBytes(name, s.Attribute(inner))
		}
		return attr.NewMap(b.Item())
	case attr.List, attr.StringSet, attr.NumberSet, attr.BinarySet:
		all := make([]attr.Value, v.Len())
		for i := range all {
			all[i] = s.Attribute(v.Index(i))
		}
		if v.Kind() == attr.List {
			return attr.NewList(all...)
		}
		if set, err := attr.NewSet(v.Kind(), all...); err == nil {
			return set
		}
	}
	return v // true, false, null
}
