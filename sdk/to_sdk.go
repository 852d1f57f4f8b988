package sdk

import (
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
)

// A toSDK converts items to the SDK's form with few allocations. It allocates the strings of an item together, and
// uses the rest of that memory for later items. It does the same with boxes, the SDK's structs around strings and
// numbers. Most attribute names are the same as in the previous item, even in another request, so their strings are
// reused.
type toSDK struct {
	text   strings.Builder // replaced when it is full and never grown, so that its strings stay valid
	boxesS boxes[types.AttributeValueMemberS]
	boxesN boxes[types.AttributeValueMemberN]
	number []byte

	names []string

	// The next fields have the items that a read has found.
	got      *dynamodb.GetItemOutput
	found    []map[string]types.AttributeValue
	counting bool // the request asks only for the number of items
}

// A caller that keeps one value of an output also keeps the boxes and strings that were allocated with that value.
// These limits bound their memory.
const (
	shortBytes  = 256 // longer strings do not share memory with others
	sharedBytes = 4096
	mostBoxes   = 16
	keepNames   = 64
)

var toSDKs = sync.Pool{New: func() any { return new(toSDK) }}

func (m *toSDK) release() {
	const keepFound = 1 << 12
	if cap(m.found) > keepFound {
		m.found = nil
	}
	clear(m.found)
	m.text.Reset()
	m.boxesS.reset(0)
	m.boxesN.reset(0)
	m.got, m.found, m.counting = nil, m.found[:0], false
	toSDKs.Put(m)
}

// takeItem makes the output of a GetItem that has found the item.
func (m *toSDK) takeItem(it attr.Item) { m.got = &dynamodb.GetItemOutput{Item: m.item(it)} }

// addItem converts an item that a Query or Scan has found.
func (m *toSDK) addItem(it attr.Item) (int, error) {
	m.found = append(m.found, m.make(it))
	return 0, nil
}

// items returns the items that addItem has converted, or nil if the request only counts them.
func (m *toSDK) items() []map[string]types.AttributeValue {
	if m.counting {
		return nil
	}
	return append(make([]map[string]types.AttributeValue, 0, len(m.found)), m.found...)
}

// optional converts an item. It returns nil for nil.
func (m *toSDK) optional(it attr.Item) map[string]types.AttributeValue {
	if it == nil {
		return nil
	}
	return m.item(it)
}

func (m *toSDK) item(it attr.Item) map[string]types.AttributeValue {
	m.fit(it)
	return m.make(it)
}

// fit allocates the memory for strings and boxes that an item is likely to need.
func (m *toSDK) fit(it attr.Item) {
	texts, strs, numbers := 0, 0, 0
	for i := range it.Len() {
		switch _, v := it.At(i); v.Kind() {
		case attr.String:
			if size := len(v.Raw()); size <= shortBytes {
				texts += size
				strs++
			}
		case attr.Number:
			texts += 2*len(v.Raw()) + 1 // enough for most numbers
			numbers++
		case attr.List, attr.Map, attr.StringSet, attr.NumberSet:
			texts += min(len(v.Raw()), shortBytes)
		}
	}

	m.text.Reset()
	m.text.Grow(texts)
	m.boxesS.reset(strs)
	m.boxesN.reset(numbers)
}

// make converts an item. It first uses the boxes and the memory for strings that are left.
func (m *toSDK) make(it attr.Item) map[string]types.AttributeValue {
	n := it.Len()
	out := make(map[string]types.AttributeValue, n)
	for i := range n {
		name, v := it.At(i)
		out[m.name(i, name)] = m.value(v)
	}
	return out
}

// name returns the name of attribute i as a string. If attribute i of the previous item had the same name, name
// returns the same string again.
func (m *toSDK) name(i int, name []byte) string {
	if i < len(m.names) && m.names[i] == string(name) {
		return m.names[i]
	}
	text := string(name)
	switch {
	case len(name) > shortBytes:
	case i < len(m.names):
		m.names[i] = text
	case i == len(m.names) && i < keepNames:
		m.names = append(m.names, text)
	}
	return text
}

// string returns text as a string. Short strings share memory with each other.
func (m *toSDK) string(text []byte) string {
	if len(text) > shortBytes {
		return string(text)
	}
	from := m.text.Len()
	if m.text.Cap()-from < len(text) {
		size := m.text.Cap()
		m.text.Reset()
		m.text.Grow(more(size, shortBytes, sharedBytes))
		from = 0
	}
	m.text.Write(text)
	return m.text.String()[from:]
}

// numberOf returns the text of a number.
func (m *toSDK) numberOf(v attr.Value) string {
	m.number = v.AppendNumber(m.number[:0])
	return m.string(m.number)
}

// boxes are structs that were allocated together. The first used ones are in use.
type boxes[T any] struct {
	list []T
	used int
}

func (b *boxes[T]) next() *T {
	if b.used == len(b.list) {
		b.list, b.used = make([]T, more(b.used, 4, mostBoxes)), 0
	}
	b.used++
	return &b.list[b.used-1]
}

// reset replaces the boxes by n new ones.
func (b *boxes[T]) reset(n int) { b.list, b.used = make([]T, n), 0 }

// more returns how many boxes or bytes to allocate after the last n are used up. It doubles the number, but stays
// between least and most.
func more(n, least, most int) int { return min(max(2*n, least), most) }

// value returns the SDK's form of a value, or nil for the zero value.
func (m *toSDK) value(v attr.Value) types.AttributeValue {
	switch v.Kind() {
	case attr.String:
		if len(v.Raw()) > shortBytes {
			return &types.AttributeValueMemberS{Value: string(v.Raw())}
		}
		box := m.boxesS.next()
		box.Value = m.string(v.Raw())
		return box
	case attr.Number:
		box := m.boxesN.next()
		box.Value = m.numberOf(v)
		return box
	case attr.Binary:
		return &types.AttributeValueMemberB{Value: binaryOf(v)}
	case attr.Bool:
		return &types.AttributeValueMemberBOOL{Value: v.Bool()}
	case attr.Null:
		return &types.AttributeValueMemberNULL{Value: true}
	case attr.List:
		return &types.AttributeValueMemberL{Value: elementsOf(v, m.value)}
	case attr.Map:
		out := make(map[string]types.AttributeValue, v.Len())
		for name, e := range v.Map().All() {
			key := m.string(name)
			out[key] = m.value(e)
		}
		return &types.AttributeValueMemberM{Value: out}
	case attr.StringSet:
		return &types.AttributeValueMemberSS{
			Value: elementsOf(v, func(e attr.Value) string { return m.string(e.Raw()) }),
		}
	case attr.NumberSet:
		return &types.AttributeValueMemberNS{Value: elementsOf(v, m.numberOf)}
	case attr.BinarySet:
		return &types.AttributeValueMemberBS{Value: elementsOf(v, binaryOf)}
	}
	return nil
}

func binaryOf(v attr.Value) []byte { return append([]byte{}, v.Raw()...) }

func elementsOf[T any](v attr.Value, element func(attr.Value) T) []T {
	out := make([]T, v.Len())
	for i := range out {
		out[i] = element(v.Index(i))
	}
	return out
}
