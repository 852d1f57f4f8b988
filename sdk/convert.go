package sdk

import (
	"reflect"
	"sync"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/wire"
)

// Inputs and outputs of the SDK have the same members as those of package wire, so they are converted member by
// member, by reflection. TestPropertyWays and the scripts of TestBehaviour compare the results of the wire with those
// of the short way.

// A side converts the values whose types differ between the SDK and package wire, such as attribute values.
// [fromSDK] converts inputs and [toSDK] converts outputs.
type side interface {
	// convert sets to and returns true, or returns false for a value that [convert] can take apart. The value to is
	// addressable.
	convert(from, to reflect.Value) bool
}

// convert converts the value that from points to, and stores it where to points. It copies no member that one of the
// two structures lacks, as versions of the SDK differ.
func convert(s side, from, to any) {
	convertValue(s, reflect.ValueOf(from).Elem(), reflect.ValueOf(to).Elem())
}

func convertValue(s side, from, to reflect.Value) {
	if s.convert(from, to) {
		return
	}
	switch kind := from.Kind(); kind {
	case reflect.Struct:
		for _, m := range membersOf(from.Type(), to.Type()) {
			convertValue(s, from.Field(m.from), to.Field(m.to))
		}
		return
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if from.IsNil() {
			return
		}
		switch elem := to.Type().Elem(); kind {
		case reflect.Pointer:
			to.Set(reflect.New(elem))
			convertValue(s, from.Elem(), to.Elem())
		case reflect.Slice:
			to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
			for i := range from.Len() {
				convertValue(s, from.Index(i), to.Index(i))
			}
		default:
			to.Set(reflect.MakeMapWithSize(to.Type(), from.Len()))
			for key, v := range from.Seq2() {
				e := reflect.New(elem).Elem()
				convertValue(s, v, e)
				to.SetMapIndex(key, e)
			}
		}
	default:
		to.Set(from)
	}
}

// A member has the indexes of a member's field in a structure of one side and in that of the other.
type member struct{ from, to int }

// knownMembers has the results of membersOf by the type from.
var knownMembers sync.Map

// membersOf returns the members that both structures have. A type from always comes with the same type to.
func membersOf(from, to reflect.Type) (list []member) {
	if known, ok := knownMembers.Load(from); ok {
		return known.([]member)
	}
	for field := range from.Fields() {
		if target, ok := to.FieldByName(field.Name); ok {
			list = append(list, member{field.Index[0], target.Index[0]})
		}
	}
	knownMembers.Store(from, list)
	return list
}

// convert implements [side]. It refuses the legacy parameters that expressions have replaced. It also refuses nil
// lists and nil items in lists, for which different versions of the SDK send different JSON.
func (s *fromSDK) convert(from, to reflect.Value) bool {
	switch out := to.Addr().Interface().(type) {
	case *attr.Item:
		*out = s.item(from.Interface().(map[string]types.AttributeValue))
	case *map[string]string:
		*out = s.names(from.Interface().(map[string]string))
	case **string:
		*out = s.string(from)
	case **int64:
		if n := from.Interface().(*int32); n != nil {
			*out = new(int64(*n))
		}
	case *[]string, *map[string]wire.ExpectedAttributeValue, *map[string]wire.AttributeValueUpdate,
		*map[string]wire.Condition:
		s.refuse(!from.IsNil())
	case **bool:
		*out = from.Interface().(*bool)
	default:
		switch from.Kind() {
		case reflect.Slice:
			s.refuse(from.IsNil())
			for i := range from.Len() {
				e := from.Index(i)
				s.refuse(e.Kind() == reflect.Map && e.IsNil())
			}
		case reflect.Map:
			for _, key := range from.MapKeys() {
				s.checked(key.String())
			}
		}
		return false
	}
	return true
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

// string converts a text or a value of an enumeration. It returns nil for the enumeration's value "", which the SDK
// does not send.
func (s *fromSDK) string(v reflect.Value) *string {
	if text, ok := v.Interface().(*string); ok {
		if text != nil {
			s.checked(*text)
		}
		return text
	}
	if v.Len() == 0 {
		return nil
	}
	return new(s.checked(v.String()))
}

// checked adds the length of the text to the size of the request. It refuses text that is not UTF-8, as the SDK would
// change it.
func (s *fromSDK) checked(text string) string {
	s.refuse(!utf8.ValidString(text))
	s.size += len(text)
	return text
}

// convert implements [side].
func (m *toSDK) convert(from, to reflect.Value) bool {
	switch out := to.Addr().Interface().(type) {
	case *map[string]types.AttributeValue:
		*out = m.optional(from.Bytes())
	case *[]map[string]types.AttributeValue:
		if !from.IsNil() {
			return false
		}
		*out = m.items() // Query and Scan have passed the items to addItem
	case *int32:
		if !from.IsNil() {
			*out = int32(from.Elem().Int())
		}
	default:
		return false
	}
	return true
}
