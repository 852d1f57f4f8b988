package sdk

import (
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
)

// A maker makes the SDK's form of items. An item has many short texts, which are
// written one after the other into memory that they share, with those of the
// items after it too, and so are the SDK's boxes around them. Names are mostly
// those of the item before, be it of another request.
type maker struct {
	text   strings.Builder // of short texts; it does not grow while it has some
	boxesS []types.AttributeValueMemberS
	boxesN []types.AttributeValueMemberN
	usedS  int // of boxesS
	usedN  int
	number []byte

	names []string

	// What a read finds, while it lies in the store: take and add are takeItem
	// and addItem.
	got       *got
	found     []map[string]types.AttributeValue
	counting  bool // only the number of items is asked for
	take, add func(attr.Item)
}

// got is the answer of a GetItem, with the boxes of a small item.
type got struct {
	out    dynamodb.GetItemOutput
	boxesS [4]types.AttributeValueMemberS
	boxesN [2]types.AttributeValueMemberN
}

// Who keeps one value of an answer keeps no more than the boxes it was made
// with, and the memory of their short texts.
const (
	shortBytes  = 256 // the longest string that shares memory with others
	sharedBytes = 4096
	mostBoxes   = 16
	keepNames   = 64
)

var makers = sync.Pool{New: func() any {
	m := new(maker)
	m.take, m.add = m.takeItem, m.addItem
	return m
}}

func (m *maker) release() {
	const keepFound = 1 << 12
	if cap(m.found) > keepFound {
		m.found = nil
	}
	clear(m.found)
	m.text.Reset()
	m.boxesS, m.boxesN, m.usedS, m.usedN = nil, nil, 0, 0
	m.got, m.found, m.counting = nil, m.found[:0], false
	makers.Put(m)
}

// itemOf returns the SDK's form of an item, nil for nil. It shares nothing with
// the item.
func itemOf(it attr.Item) map[string]types.AttributeValue {
	m := makers.Get().(*maker)
	defer m.release()
	return m.optional(it)
}

// itemsOf returns the SDK's form of items, nil for nil.
func itemsOf(items []attr.Item) []map[string]types.AttributeValue {
	if items == nil {
		return nil
	}
	m := makers.Get().(*maker)
	defer m.release()
	return list(items, m.make)
}

// takeItem makes the answer of a GetItem that found an item.
func (m *maker) takeItem(it attr.Item) {
	m.got = new(got)
	m.boxesS, m.boxesN = m.got.boxesS[:], m.got.boxesN[:]
	m.fit(it)
	m.got.out.Item = m.make(it)
}

// addItem adds an item to those found.
func (m *maker) addItem(it attr.Item) { m.found = append(m.found, m.make(it)) }

// items returns the items that were added, none if they are only counted.
func (m *maker) items() []map[string]types.AttributeValue {
	if m.counting {
		return nil
	}
	return append(make([]map[string]types.AttributeValue, 0, len(m.found)), m.found...)
}

// optional is item, nil for nil.
func (m *maker) optional(it attr.Item) map[string]types.AttributeValue {
	if it == nil {
		return nil
	}
	return m.item(it)
}

func (m *maker) item(it attr.Item) map[string]types.AttributeValue {
	m.boxesS, m.boxesN = nil, nil
	m.fit(it)
	return m.make(it)
}

// fit gets the memory that an item alone needs, mostly. It leaves the boxes
// there are, if they are enough.
func (m *maker) fit(it attr.Item) {
	texts, strs, numbers := 0, 0, 0
	for i := range it.Len() {
		switch _, v := it.At(i); v.Kind() {
		case attr.String:
			if size := len(v.Raw()); size <= shortBytes {
				texts += size
				strs++
			}
		case attr.Number:
			texts += 2*len(v.Raw()) + 1 // mostly enough
			numbers++
		case attr.List, attr.Map, attr.StringSet, attr.NumberSet:
			texts += min(len(v.Raw()), shortBytes)
		}
	}
	m.text.Reset()
	m.text.Grow(texts)
	m.usedS, m.usedN = 0, 0
	if strs > len(m.boxesS) {
		m.boxesS = make([]types.AttributeValueMemberS, strs)
	}
	if numbers > len(m.boxesN) {
		m.boxesN = make([]types.AttributeValueMemberN, numbers)
	}
}

// make makes an item.
func (m *maker) make(it attr.Item) map[string]types.AttributeValue {
	n := it.Len()
	out := make(map[string]types.AttributeValue, n)
	for i := range n {
		name, v := it.At(i)
		out[m.name(i, name)] = m.value(v)
	}
	return out
}

// name returns a name as a string, that of the item before if it is the same.
func (m *maker) name(i int, name []byte) string {
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

// string returns a text, which shares memory with others if it is short.
func (m *maker) string(text []byte) string {
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
func (m *maker) numberOf(v attr.Value) string {
	m.number = v.AppendNumber(m.number[:0])
	return m.string(m.number)
}

func (m *maker) boxS() *types.AttributeValueMemberS {
	if m.usedS == len(m.boxesS) {
		m.boxesS, m.usedS = make([]types.AttributeValueMemberS, more(m.usedS, 4, mostBoxes)), 0
	}
	m.usedS++
	return &m.boxesS[m.usedS-1]
}

func (m *maker) boxN() *types.AttributeValueMemberN {
	if m.usedN == len(m.boxesN) {
		m.boxesN, m.usedN = make([]types.AttributeValueMemberN, more(m.usedN, 4, mostBoxes)), 0
	}
	m.usedN++
	return &m.boxesN[m.usedN-1]
}

// more is how many come after n that were too few.
func more(n, least, most int) int { return min(max(2*n, least), most) }

// value returns the SDK's form of a value, nil for none.
func (m *maker) value(v attr.Value) types.AttributeValue {
	switch v.Kind() {
	case attr.String:
		if len(v.Raw()) > shortBytes {
			return &types.AttributeValueMemberS{Value: string(v.Raw())}
		}
		box := m.boxS()
		box.Value = m.string(v.Raw())
		return box
	case attr.Number:
		box := m.boxN()
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
		return &types.AttributeValueMemberSS{Value: elementsOf(v, func(e attr.Value) string { return m.string(e.Raw()) })}
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
