package sdk

import (
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
)

// The code in convert_gen.go converts inputs and outputs field by field with the functions below. TestPropertyWays
// and the scripts of TestBehaviour compare the results of the wire with those of the short way.

// key converts an item in a list of keys. It refuses a nil item, for which different versions of the SDK send
// different JSON.
func (s *fromSDK) key(attributes map[string]types.AttributeValue) attr.Item {
	s.refuse(attributes == nil)
	return s.item(attributes)
}

// names checks placeholders and the attribute names for which they stand. It returns the same map, as the database
// only reads it.
func (s *fromSDK) names(names map[string]string) map[string]string {
	for name, substitute := range names {
		s.checked(name)
		s.checked(substitute)
	}
	return names
}

// checked adds the length of the text to the size of the request. It refuses text that is not UTF-8, as the SDK would
// change it.
func (s *fromSDK) checked(text string) string {
	s.refuse(!utf8.ValidString(text))
	s.size += len(text)
	return text
}

func (s *fromSDK) string(text *string) *string {
	if text != nil {
		s.checked(*text)
	}
	return text
}

// enum converts a value of an enumeration. It returns nil for "", which the SDK does not send.
func enum[T ~string](s *fromSDK, v T) *string {
	if v == "" {
		return nil
	}
	text := s.checked(string(v))
	return &text
}

func wide(n *int32) *int64 {
	if n == nil {
		return nil
	}
	v := int64(*n)
	return &v
}

// entries is like each, but also checks the keys of the map.
func entries[A, B any](in map[string]A, s *fromSDK, convert func(A) B) map[string]B {
	for k := range in {
		s.checked(k)
	}
	return each(in, convert)
}

// each converts the values of a map. It returns nil for nil.
func each[A, B any](in map[string]A, convert func(A) B) map[string]B {
	if in == nil {
		return nil
	}
	out := make(map[string]B, len(in))
	for k, v := range in {
		out[k] = convert(v)
	}
	return out
}

// list converts the elements of a list. It returns nil for nil.
func list[A, B any](in []A, convert func(A) B) []B {
	if in == nil {
		return nil
	}
	out := make([]B, len(in))
	for i, v := range in {
		out[i] = convert(v)
	}
	return out
}

// lists returns a function that converts the elements of a list with convert.
func lists[A, B any](convert func(A) B) func([]A) []B {
	return func(in []A) []B { return list(in, convert) }
}

// filled is like lists, but the function that it returns refuses a nil list, for which different versions of the SDK
// send different JSON.
func filled[A, B any](s *fromSDK, convert func(A) B) func([]A) []B {
	return func(in []A) []B {
		s.refuse(in == nil)
		return list(in, convert)
	}
}

// pointer converts the value that in points to. It returns nil for nil.
func pointer[A, B any](in *A, convert func(A) B) *B {
	if in == nil {
		return nil
	}
	return new(convert(*in))
}
