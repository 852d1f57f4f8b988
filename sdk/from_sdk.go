package sdk

import (
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
)

// A fromSDK converts the SDK's values of one request to values of package attr. It sets refused if DynamoDB would
// refuse a value while it decodes the request, or if the SDK would change a value while it encodes the request. Its
// results are then useless.
type fromSDK struct {
	refused  bool
	size     int            // total bytes of the texts and values so far
	buf      []byte         // payloads of values that are not yet in an item
	builders []attr.Builder // by depth
	elems    []attr.Value   // elements of the lists that are being read; those of the innermost list are last
}

// tooLong reports whether the JSON of the request could exceed DynamoDB's limit of 16 MB. Such a request goes over
// the wire, where the server checks its length. A byte of a value becomes at most 14 bytes of JSON, as in
// {"BOOL":false}.
func (s *fromSDK) tooLong() bool { return s.size > 1<<20 }

// refuse sets refused if wrong is true. It returns refused.
func (s *fromSDK) refuse(wrong bool) bool {
	s.refused = s.refused || wrong
	return s.refused
}

// item returns an item with the attributes. It returns nil if attributes is nil.
func (s *fromSDK) item(attributes map[string]types.AttributeValue) attr.Item {
	if attributes == nil || !s.collect(attributes, 0) {
		return nil
	}
	return s.builders[0].Item()
}

// collect puts the attributes of a map into the builder for this depth of nesting. It returns false if a name is
// refused.
func (s *fromSDK) collect(attributes map[string]types.AttributeValue, depth int) bool {
	for len(s.builders) <= depth {
		s.builders = append(s.builders, attr.Builder{})
	}
	s.builders[depth].Reset()
	for name, v := range attributes {
		value := s.value(v, depth+1)
		if s.refuse(name == "" || len(s.checked(name)) > attr.MaxNameBytes) {
			return false
		}
		s.builders[depth].Add(name, value)
	}
	return true
}

// value converts a value. level is its level of nesting; an item's attributes are at level 1.
func (s *fromSDK) value(v types.AttributeValue, level int) attr.Value {
	p := reflect.ValueOf(v)
	if s.refuse(level > attr.MaxNesting || p.Kind() != reflect.Pointer || p.IsNil()) {
		return attr.Value{}
	}
	from := len(s.buf)
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return s.text(v.Value)
	case *types.AttributeValueMemberN:
		return s.number(v.Value)
	case *types.AttributeValueMemberB:
		return s.binary(v.Value)
	case *types.AttributeValueMemberBOOL:
		bit := byte(0)
		if v.Value {
			bit = 1
		}
		s.buf = append(s.buf, bit)
		return s.valueFrom(attr.Bool, from)
	case *types.AttributeValueMemberNULL:
		if v.Value {
			return attr.NewNull()
		}
	case *types.AttributeValueMemberL:
		base := len(s.elems)
		for _, e := range v.Value {
			value := s.value(e, level+1)
			s.elems = append(s.elems, value)
		}
		from = len(s.buf)
		s.buf = attr.AppendList(s.buf, s.elems[base:])
		s.elems = s.elems[:base]
		return s.valueFrom(attr.List, from)
	case *types.AttributeValueMemberM:
		if s.collect(v.Value, level) {
			from = len(s.buf)
			s.buf = s.builders[level].AppendItem(s.buf)
			return s.valueFrom(attr.Map, from)
		}
	case *types.AttributeValueMemberSS:
		return set(s, attr.StringSet, v.Value, s.text)
	case *types.AttributeValueMemberNS:
		return set(s, attr.NumberSet, v.Value, s.number)
	case *types.AttributeValueMemberBS:
		return set(s, attr.BinarySet, v.Value, s.binary)
	}

	s.refused = true
	return attr.Value{}
}

// valueFrom returns the value whose payload is s.buf[from:].
func (s *fromSDK) valueFrom(kind attr.Kind, from int) attr.Value {
	s.size += len(s.buf) - from
	return attr.MakeValue(kind, s.buf[from:len(s.buf):len(s.buf)])
}

func (s *fromSDK) text(text string) attr.Value {
	from := len(s.buf)
	s.buf = append(s.buf, s.checked(text)...)
	return s.valueFrom(attr.String, from)
}

func (s *fromSDK) number(text string) attr.Value {
	from := len(s.buf)
	buf, err := attr.AppendNumber(s.buf, text)
	s.refuse(err != nil)
	s.buf = buf
	return s.valueFrom(attr.Number, from)
}

func (s *fromSDK) binary(b []byte) attr.Value {
	s.refuse(b == nil) // the SDK sends it as null
	from := len(s.buf)
	s.buf = append(s.buf, b...)
	return s.valueFrom(attr.Binary, from)
}

func set[T any](s *fromSDK, kind attr.Kind, members []T, element func(T) attr.Value) attr.Value {
	base := len(s.elems)
	for _, m := range members {
		s.elems = append(s.elems, element(m))
	}
	v, err := attr.NewSet(kind, s.elems[base:]...)
	s.refuse(err != nil)
	s.elems = s.elems[:base]
	return v
}
