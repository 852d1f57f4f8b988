package sdk

import (
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/sortkey/sortkey/attr"
)

// A maker makes the SDK's form of items. An item has many short texts, so they
// are written into one string first and then cut out of it, and the SDK's
// boxes around them are made together. Names are mostly those of the item
// before, be it of another request.
type maker struct {
	buf  []byte
	ends []int // of the texts in buf
	text string
	from int // of what is left of text

	// Numbers of boxes, and what is left of them.
	countS, countN int
	boxesS         []types.AttributeValueMemberS
	boxesN         []types.AttributeValueMemberN

	names []string
}

const (
	// shortBytes is the longest string that shares memory with others of its
	// item: who keeps a value keeps at most so much for each of those.
	shortBytes = 256
	keepNames  = 64
)

var makers = sync.Pool{New: func() any { return new(maker) }}

func (m *maker) release() {
	const keepBytes = 64 << 10
	if cap(m.buf) > keepBytes || cap(m.ends) > keepBytes/8 {
		return
	}
	*m = maker{buf: m.buf[:0], ends: m.ends[:0], names: m.names}
	makers.Put(m)
}

// itemOf returns the SDK's form of an item, nil for nil. It shares nothing with
// the item.
func itemOf(it attr.Item) map[string]types.AttributeValue {
	if it == nil {
		return nil
	}
	m := makers.Get().(*maker)
	defer m.release()
	return m.item(it)
}

// itemsOf returns the SDK's form of items, nil for nil.
func itemsOf(items []attr.Item) []map[string]types.AttributeValue {
	if items == nil {
		return nil
	}
	m := makers.Get().(*maker)
	defer m.release()
	return list(items, m.item)
}

func (m *maker) item(it attr.Item) map[string]types.AttributeValue {
	m.buf, m.ends, m.from, m.countS, m.countN = m.buf[:0], m.ends[:0], 0, 0, 0
	for i := range it.Len() {
		_, v := it.At(i)
		m.note(v)
	}
	m.text = string(m.buf)
	m.boxesS, m.boxesN = make([]types.AttributeValueMemberS, m.countS), make([]types.AttributeValueMemberN, m.countN)
	ends := m.ends
	out := make(map[string]types.AttributeValue, it.Len())
	for i := range it.Len() {
		name, v := it.At(i)
		out[m.name(i, name)] = m.value(v)
	}
	m.ends = ends
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

// end ends a text that was written to buf.
func (m *maker) end() { m.ends = append(m.ends, len(m.buf)) }

// noteText writes a short text.
func (m *maker) noteText(text []byte) {
	if len(text) <= shortBytes {
		m.buf = append(m.buf, text...)
		m.end()
	}
}

// note writes the texts of a value, in the order in which value cuts them out.
func (m *maker) note(v attr.Value) {
	switch v.Kind() {
	case attr.String:
		m.noteText(v.Raw())
		if len(v.Raw()) <= shortBytes {
			m.countS++
		}
	case attr.Number:
		m.buf = v.AppendNumber(m.buf)
		m.end()
		m.countN++
	case attr.List:
		for i := range v.Len() {
			m.note(v.Index(i))
		}
	case attr.Map:
		for name, e := range v.Map().All() {
			m.noteText(name)
			m.note(e)
		}
	case attr.StringSet:
		for i := range v.Len() {
			m.noteText(v.Index(i).Raw())
		}
	case attr.NumberSet:
		for i := range v.Len() {
			m.buf = v.Index(i).AppendNumber(m.buf)
			m.end()
		}
	}
}

// cut returns the next text.
func (m *maker) cut() string {
	text := m.text[m.from:m.ends[0]]
	m.from, m.ends = m.ends[0], m.ends[1:]
	return text
}

// string returns a text that noteText has seen.
func (m *maker) string(text []byte) string {
	if len(text) > shortBytes {
		return string(text)
	}
	return m.cut()
}

// value returns the SDK's form of a value, nil for none.
func (m *maker) value(v attr.Value) types.AttributeValue {
	switch v.Kind() {
	case attr.String:
		if len(v.Raw()) > shortBytes {
			return &types.AttributeValueMemberS{Value: string(v.Raw())}
		}
		box := &m.boxesS[0]
		m.boxesS = m.boxesS[1:]
		box.Value = m.cut()
		return box
	case attr.Number:
		box := &m.boxesN[0]
		m.boxesN = m.boxesN[1:]
		box.Value = m.cut()
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
		return &types.AttributeValueMemberNS{Value: elementsOf(v, func(attr.Value) string { return m.cut() })}
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
