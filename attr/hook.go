package attr

import (
	"reflect"

	"github.com/sortkey/sortkey/internal/item/doc"
)

// A Marshaler is a type that chooses the form in which its values are stored. Implement it, with [Unmarshaler], for a
// type that should not be stored in its Go form, such as an amount of money. [Marshal] calls MarshalAttr instead of
// looking into the value, unless the value is nil or omitted. If MarshalAttr returns the zero [Value], nothing is
// stored.
type Marshaler interface {
	MarshalAttr() (Value, error)
}

// An Unmarshaler is a type that decodes its values from their stored form. [Unmarshal] calls UnmarshalAttr with the
// value that it found. It does so for NULL too, unless the destination is a pointer. The value shares bytes with the
// item: UnmarshalAttr must copy what it keeps and change nothing.
type Unmarshaler interface {
	UnmarshalAttr(v Value) error
}

// hasSDKMarshaler and hasSDKUnmarshaler report whether a type has the methods that the AWS
// SDK's package attributevalue calls. Their parameters are types of the SDK.
func hasSDKMarshaler(t reflect.Type) bool {
	_, ok := t.MethodByName("MarshalDynamoDBAttributeValue")
	return ok
}

func hasSDKUnmarshaler(t reflect.Type) bool {
	_, ok := t.MethodByName("UnmarshalDynamoDBAttributeValue")
	return ok
}

// isWhole reports whether all elements of a list, set or map lie inside its bytes, so that reading them cannot fail.
// It does not look into the elements. For a value without elements, it returns true.
func (v Value) isWhole() bool {
	switch {
	case v.kind == 0 || v.kind > Map:
		return false
	case v.kind.IsScalar() || v.kind == Bool || v.kind == Null:
		return true
	case v.kind == Map && len(v.raw) == 0:
		return true // the nil Item
	case !doc.Valid(v.raw):
		return false
	}
	for i := range doc.Len(v.raw) {
		entry := doc.Entry(v.raw, i)
		switch v.kind {
		case List:
			if len(entry) == 0 {
				return false
			}
		case Map:
			if !doc.IsAttribute(entry) {
				return false
			}
		}
	}
	return true
}
