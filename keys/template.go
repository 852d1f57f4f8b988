// Package keys builds and parses composite keys, so that the byte order of
// keys is the order their values should have.
//
// A [Template] such as
//
//	ORDER#{placed:date}#{orderId}
//
// is literal text with components in braces. Each component has a [Type],
// which says how a value becomes text: dates and padded integers sort by
// value, plain strings must not contain the delimiter that follows them.
package keys

import "errors"

// A Type says how the value of a component becomes a part of a key. Its zero
// value is a string.
type Type struct {
	// Name is one of those in the table of the package documentation: string,
	// int, signed, decimal, date, time, …
	Name string
	// Width is the number of digits before the point, Scale those after it.
	Width, Scale int
	// Values are those of an enum.
	Values []string
	// Desc reverses the order.
	Desc bool
}

// ParseType reads a type as templates write it: int(8), enum(a,b), time:desc.
func ParseType(text string) (Type, error) { return Type{}, errors.ErrUnsupported }

// String returns the type as templates write it.
func (t Type) String() string { return t.Name }

// Encode returns the part of a key for a value in its text form.
func (t Type) Encode(text string) (string, error) { return "", errors.ErrUnsupported }

// Decode returns the text form of the value in a part of a key.
func (t Type) Decode(part string) (string, error) { return "", errors.ErrUnsupported }

// A Template makes keys of values and finds the values in keys.
type Template struct{ parts []Part }

// A Part is literal text, or a component when Name is not empty.
type Part struct {
	Literal string
	Name    string
	Type    Type
	// Typed says that the template names the type itself.
	Typed bool
}

// Parse reads a template.
func Parse(src string) (*Template, error) { return nil, errors.ErrUnsupported }

// String returns the template as it was written.
func (t *Template) String() string { return "" }

// Parts returns what the template is made of, in order.
func (t *Template) Parts() []Part { return t.parts }

// Build returns the key of values in their text form, by component.
func (t *Template) Build(values map[string]string) (string, error) {
	return "", errors.ErrUnsupported
}

// Match returns the values in a key, and whether the key is one of t.
func (t *Template) Match(key string) (map[string]string, bool) { return nil, false }
