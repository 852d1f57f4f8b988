package sdk

import (
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
)

// convert_gen.go converts inputs and outputs member by member with the functions below. TestPropertyWays and the
// scripts of TestBehaviour compare both ways of the SDK.

// key is an element of a list, where versions of the SDK differ in what they
// send for nil.
func (s *fromSDK) key(attributes map[string]types.AttributeValue) attr.Item {
	s.refuse(attributes == nil)
	return s.item(attributes)
}

// names returns the substitutes for names, which are only read.
func (s *fromSDK) names(names map[string]string) map[string]string {
	for name, substitute := range names {
		s.checked(name)
		s.checked(substitute)
	}
	return names
}

// checked refuses text that is not UTF-8: the SDK would send it changed.
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

// enum is a value of an enumeration, which the SDK leaves out when empty.
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

// entries is each for inputs.
func entries[A, B any](in map[string]A, s *fromSDK, convert func(A) B) map[string]B {
	for k := range in {
		s.checked(k)
	}
	return each(in, convert)
}

// each converts the values of a map, nil to nil.
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

// list converts the elements of a list, nil to nil.
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

// lists returns a function that converts lists.
func lists[A, B any](convert func(A) B) func([]A) []B {
	return func(in []A) []B { return list(in, convert) }
}

// filled is lists for inputs. Versions of the SDK differ in what they send for nil, which it refuses.
func filled[A, B any](s *fromSDK, convert func(A) B) func([]A) []B {
	return func(in []A) []B {
		s.refuse(in == nil)
		return list(in, convert)
	}
}

// pointer converts what a pointer refers to, nil to nil.
func pointer[A, B any](in *A, convert func(A) B) *B {
	if in == nil {
		return nil
	}
	return new(convert(*in))
}
