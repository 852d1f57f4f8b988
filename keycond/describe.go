package keycond

import (
	"bytes"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/item/number"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/store"
)

// A Bound is one end of a range of sort positions, decoded into values, for showing people which rows a query reads.
// [Slice.Ends] and [Schema.Bounds] return it.
type Bound struct {
	// Sort has values for the first attributes of the sort key, in the order of the key; the attributes after these
	// are not bounded. The last value may be incomplete: only the beginning of a value, or bytes that sort after all
	// values that begin alike.
	Sort []attr.Attribute `json:"sort"`
	// Item is the primary key of the item at the bound. A bound in an index may have one, because the primary key
	// orders items with equal index keys. It is nil if the sort key alone makes the bound.
	Item []attr.Attribute `json:"item,omitempty"`
	// Inclusive says whether the rows at the bound are in the range.
	Inclusive bool `json:"inclusive,omitempty"`
}

// PartitionKey decodes the address of a partition, which [Schema.Place] returned, into the values of the partition
// key.
func (s *Schema) PartitionKey(b []byte) []attr.Attribute {
	key := make([]attr.Attribute, 0, len(s.partition))
	for i, a := range s.partition {
		raw := b
		if i < len(s.partition)-1 {
			var ok bool
			if raw, b, ok = item.CutKey(nil, b); !ok {
				break
			}
		}
		key = append(key, valueAt(a, raw))
	}
	return key
}

// SortNames returns the names of the attributes of the sort key, which [DescribeRange] and the methods of [Bound]
// take.
func (s *Schema) SortNames() []string {
	names := make([]string, len(s.sort))
	for i, a := range s.sort {
		names[i] = a.Name
	}
	return names
}

// Bounds returns the ends of a range of sort positions, and nil for an open end. For the range of a key condition use
// [Slice.Ends], which knows the operator and so can tell a value from the position above it.
func (s *Schema) Bounds(r store.Range) (low, high *Bound) {
	return s.bound(r.Lo, false, true), s.bound(r.Hi, true, true)
}

// DescribePartition returns a partition key in words, such as PK = "a" and year = 42.
func DescribePartition(key []attr.Attribute) string {
	parts := make([]string, len(key))
	for i, a := range key {
		parts[i] = text.Name(a.Name) + " = " + literal(a.Value)
	}
	return strings.Join(parts, " and ")
}

// DescribeRange returns the range between two bounds of a sort key in words, such as SK from "a" to before "b", or
// "all of it". Sort has the names of the attributes of the sort key.
func DescribeRange(sort []string, low, high *Bound) string {
	name := sortName(sort)
	from, to := low.Words(sort, false), high.Words(sort, true)
	switch {
	case low == nil && high == nil:
		return "all of it"
	case high == nil:
		return name + " " + from
	case low == nil:
		return name + " " + to
	case low.Inclusive && high.Inclusive && low.Text(sort) == high.Text(sort):
		return name + " = " + low.Text(sort)
	case high.Inclusive:
		return name + " " + from + " " + to
	}
	return name + " " + from + " to " + to
}

// Ends returns the ends of a slice from [Compile] or [Of], for showing to people, and nil for an open end.
func (s *Slice) Ends() (low, high *Bound) {
	if len(s.Clauses) == 0 || s.schema == nil {
		return nil, nil
	}
	// A position that ends in a zero byte can be a value, or the first position above a value. Only the condition
	// tells which it is.
	op := s.Clauses[len(s.Clauses)-1].Op
	low = s.schema.bound(s.Range.Lo, false, op == ast.Greater)
	return low, s.schema.bound(s.Range.Hi, true, op != ast.Less && op != ast.OpBeginsWith)
}

// bound decodes one end of a range. In a table whose sort key is not a number, a position that ends in a zero byte is
// ambiguous. If zero is set, bound decodes it as the first position above the value before that byte, otherwise as a
// value.
func (s *Schema) bound(b []byte, upper, zero bool) *Bound {
	if b == nil {
		return nil
	}
	p := s.position(b, zero)
	return &Bound{Sort: p.sort, Item: p.item, Inclusive: p.above == upper}
}

// Text returns the values of a bound as expressions write them: "a", or ("a", 5) for a sort key of several
// attributes. Sort has the names of these attributes. Text returns "" for nil.
func (b *Bound) Text(sort []string) string {
	if b == nil {
		return ""
	}
	spelled := ""
	if len(sort) > 1 || len(b.Sort) > 0 {
		spelled = tuple(b.Sort, len(sort) > 1)
	}
	if b.Item == nil {
		return spelled
	}

	it := "the item " + tuple(b.Item, len(b.Item) > 1)
	if spelled == "" {
		return it
	}
	return spelled + " at " + it
}

// Words returns the text of a bound after one of the words from, after, up to and before, such as: from "a". Upper
// says that the bound is the upper one. Words returns "" for nil.
func (b *Bound) Words(sort []string, upper bool) string {
	switch {
	case b == nil:
		return ""
	case upper && b.Inclusive:
		if next, ok := b.beforeNext(sort); ok {
			return "before " + next
		}
		return "up to " + b.Text(sort)
	case upper:
		return "before " + b.Text(sort)
	case b.Inclusive:
		return "from " + b.Text(sort)
	}
	return "after " + b.Text(sort)
}

// beforeNext returns the text that follows all texts with the same beginning, for an inclusive upper bound of this
// beginning and the highest character, U+10FFFF: "b" for "a\U0010FFFF". Requests use this character to read
// everything that begins with "a", but people would not understand it.
func (b *Bound) beforeNext(sort []string) (string, bool) {
	const highest = "\U0010FFFF"
	if len(sort) != 1 || len(b.Sort) != 1 || b.Item != nil || b.Sort[0].Value.Kind() != attr.String {
		return "", false
	}
	raw, ok := bytes.CutSuffix(b.Sort[0].Value.Raw(), []byte(highest))
	last := len(raw) - 1
	if !ok || last < 0 || raw[last] >= 0x7E {
		return "", false
	}
	next := bytes.Clone(raw)
	next[last]++
	return text.Quote(next), true
}

func sortName(names []string) string {
	switch len(names) {
	case 0:
		return "items"
	case 1:
		return text.Name(names[0])
	}
	spelled := make([]string, len(names))
	for i, name := range names {
		spelled[i] = text.Name(name)
	}
	return "(" + strings.Join(spelled, ", ") + ")"
}

// A position is a place between rows: directly below all rows with its values, or directly above them.
type position struct {
	sort, item []attr.Attribute
	above      bool
}

// position decodes a sort position. In a table, a position is the bytes of the sort key. The first position above a
// sort key is its bytes and a zero byte.
func (s *Schema) position(b []byte, zero bool) position {
	if s.table != nil {
		return s.positionInIndex(b)
	}
	at := func(a Attribute, raw []byte) []attr.Attribute { return []attr.Attribute{valueAt(a, raw)} }
	if len(s.sort) == 0 {
		return position{sort: at(Attribute{Kind: attr.String}, b)}
	}
	a := s.sort[0]
	if a.Kind == attr.Number && number.Valid(b) {
		return position{sort: at(a, b)}
	}
	if raw, ok := bytes.CutSuffix(b, []byte{0}); ok && (zero || a.Kind == attr.Number) {
		return position{sort: at(a, raw), above: true}
	}
	return position{sort: at(a, b)}
}

// positionInIndex decodes a position in an index. The position has the components of the sort key, the last of which
// may be incomplete. The tie, which orders rows with equal keys, may follow them: see [Schema.appendTie].
func (s *Schema) positionInIndex(b []byte) position {
	var p position
	// The position above a tuple differs from the tuple only in its last byte: 2 in place of the end mark 1.
	if raw, ok := bytes.CutSuffix(b, []byte{0, 2}); ok {
		b, p.above = append(bytes.Clone(raw), 0, 1), true
	}
	for _, a := range s.sort {
		if len(b) == 0 {
			break
		}
		raw, rest, ok := item.CutKey(nil, b)
		p.sort = append(p.sort, valueAt(a, raw))
		if !ok { // an incomplete component, from begins_with
			b = nil
			break
		}
		b = rest
	}

	if len(b) > 0 {
		p.item, p.above = s.table.itemAt(b)
	}
	return p
}

// itemAt decodes the tie that orders rows with equal index keys: three bytes of a hash, then the partition key and
// the sort key of the table. In a position above the row, one more zero byte follows.
func (s *Schema) itemAt(b []byte) (key []attr.Attribute, above bool) {
	unknown := []attr.Attribute{{Value: attr.NewBinary(b)}}
	if len(b) < 3 {
		return unknown, false
	}
	pk, rest, ok := item.CutKey(nil, b[3:])
	if !ok {
		return unknown, false
	}
	key = []attr.Attribute{valueAt(s.partition[0], pk)}
	if len(s.sort) == 0 {
		return key, len(rest) > 0
	}
	at := s.position(rest, true)
	return append(key, at.sort...), at.above
}

// valueAt decodes the value of a key attribute. Bytes that are not a stored number, such as a bound below all
// numbers, become a B.
func valueAt(a Attribute, raw []byte) attr.Attribute {
	kind := a.Kind
	if kind == attr.Number && !number.Valid(raw) {
		kind = attr.Binary
	}
	return attr.Attribute{Name: a.Name, Value: attr.MakeValue(kind, bytes.Clone(raw))}
}

// tuple returns values as expressions write them, in parentheses if enclosed is set.
func tuple(list []attr.Attribute, enclosed bool) string {
	parts := make([]string, len(list))
	for i, a := range list {
		parts[i] = literal(a.Value)
	}
	spelled := strings.Join(parts, ", ")
	if enclosed {
		return "(" + spelled + ")"
	}
	return spelled
}

func literal(v attr.Value) string {
	switch v.Kind() {
	case attr.String:
		return text.Quote(v.Raw())
	case attr.Number:
		return string(v.AppendNumber(nil))
	}
	return text.Hex(v.Raw())
}
