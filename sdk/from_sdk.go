package sdk

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sortkey/sortkey/internal/wire"

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
	get      wire.GetItemInput
	borrows  bool     // items may use the memory of s, as nothing keeps them after the call
	last     []string // attribute names of the last borrowed item, sorted
}

var fromSDKs = sync.Pool{New: func() any { return new(fromSDK) }}

// release resets s for the next request, which overwrites the values that s has made and the items that
// borrow its memory. Other items have memory of their own.
func (s *fromSDK) release() {
	const keepBytes, keepValues = 1 << 20, 1 << 12
	if cap(s.buf) > keepBytes || cap(s.elems) > keepValues {
		*s = fromSDK{}
	}
	for i := range s.builders {
		s.builders[i].Reset()
	}
	clear(s.elems[:cap(s.elems)])
	s.refused, s.size, s.buf, s.elems, s.get = false, 0, s.buf[:0], s.elems[:0], wire.GetItemInput{}
	s.borrows = false
	fromSDKs.Put(s)
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

// item returns an item with the attributes, or nil if attributes is nil. If s.borrows is set, the item is only valid
// until the next request.
func (s *fromSDK) item(attributes map[string]types.AttributeValue) attr.Item {
	switch {
	case attributes == nil || !(s.borrows && s.repeat(attributes)) && !s.collect(attributes, 0):
		return nil
	case !s.borrows:
		return s.builders[0].Item()
	}
	from := len(s.buf)
	s.buf = s.builders[0].AppendItem(s.buf)
	return s.buf[from:len(s.buf):len(s.buf)]
}

// repeat does the work of collect faster if the item has the same attribute names as the previous one, as the keys of
// one table have. It looks up the previous names in their order, so it need not sort. It returns false if the names
// differ or a value is refused.
func (s *fromSDK) repeat(attributes map[string]types.AttributeValue) bool {
	if len(attributes) != len(s.last) || len(s.last) == 0 {
		s.remember(attributes)
		return false
	}
	s.builders[0].Reset()
	for _, name := range s.last {
		v, ok := attributes[name]
		if !ok {
			s.remember(attributes)
			return false
		}
		value := s.value(v, 1) // not in the next line, as value may reallocate s.builders
		s.builders[0].Add(name, value)
	}
	return !s.refused
}

// remember sets last to the attribute names of an item, for repeat. If the names are many or long, it empties last.
func (s *fromSDK) remember(attributes map[string]types.AttributeValue) {
	const most = 8
	s.last = s.last[:0]
	if len(attributes) > most {
		return
	}
	for name := range attributes {
		if name == "" || len(name) > shortBytes || !utf8.ValidString(name) {
			s.last = s.last[:0]
			return
		}
		s.last = append(s.last, strings.Clone(name))
	}
	slices.Sort(s.last)
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
	from := len(s.buf)
	if s.refuse(level > attr.MaxNesting) {
		return attr.Value{}
	}
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		if v != nil {
			return s.text(v.Value)
		}
	case *types.AttributeValueMemberN:
		if v != nil {
			return s.number(v.Value)
		}
	case *types.AttributeValueMemberB:
		if v != nil {
			return s.binary(v.Value)
		}
	case *types.AttributeValueMemberBOOL:
		if v != nil {
			bit := byte(0)
			if v.Value {
				bit = 1
			}
			s.buf = append(s.buf, bit)
			return s.valueFrom(attr.Bool, from)
		}
	case *types.AttributeValueMemberNULL:
		if v != nil && v.Value {
			return attr.NewNull()
		}
	case *types.AttributeValueMemberL:
		if v != nil {
			base := len(s.elems)
			for _, e := range v.Value {
				value := s.value(e, level+1)
				s.elems = append(s.elems, value)
			}
			from = len(s.buf)
			s.buf = attr.AppendList(s.buf, s.elems[base:])
			s.elems = s.elems[:base]
			return s.valueFrom(attr.List, from)
		}
	case *types.AttributeValueMemberM:
		if v != nil && s.collect(v.Value, level) {
			from = len(s.buf)
			s.buf = s.builders[level].AppendItem(s.buf)
			return s.valueFrom(attr.Map, from)
		}
	case *types.AttributeValueMemberSS:
		if v != nil {
			return set(s, attr.StringSet, v.Value, s.text)
		}
	case *types.AttributeValueMemberNS:
		if v != nil {
			return set(s, attr.NumberSet, v.Value, s.number)
		}
	case *types.AttributeValueMemberBS:
		if v != nil {
			return set(s, attr.BinarySet, v.Value, s.binary)
		}
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
