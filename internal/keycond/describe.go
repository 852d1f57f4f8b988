package keycond

import (
	"bytes"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/ast"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/number"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/store"
)

// DescribePartition returns the partition at an address in words, as
// PK = "a" and year = 42.
func (s *Schema) DescribePartition(b []byte) string {
	parts := make([]string, 0, len(s.Hash))
	for i, a := range s.Hash {
		raw := b
		if i < len(s.Hash)-1 {
			var ok bool
			if raw, b, ok = item.CutKey(nil, b); !ok {
				break
			}
		}
		parts = append(parts, text.Name(a.Name)+" = "+literal(a, raw))
	}
	return strings.Join(parts, " and ")
}

// An End is one end of the range of a [Slice].
type End struct {
	// Bytes is the position, nil where the range is open. A range holds its
	// lower position and not its upper one, so the position of an inclusive
	// upper end is the first above its rows.
	Bytes []byte
	// Text spells the position like a value in an expression: "a", or ("a", 5) for
	// several attributes. It is empty where the range is open.
	Text string
	// Inclusive says whether the rows at Text are in the range.
	Inclusive bool
	// Words are Text after from, after, up to or before.
	Words string
}

// Ends returns the ends of a slice that [Compile] returned.
func (s *Slice) Ends() (low, high End) {
	if len(s.Clauses) == 0 {
		return low, high
	}
	// A position that ends in a zero byte is a value or the first position above
	// one, which only the condition can say.
	op := s.Clauses[len(s.Clauses)-1].Op
	low = s.schema.end(s.Range.Lo, false, op == ast.Greater)
	return low, s.schema.end(s.Range.Hi, true, op != ast.Less && op != ast.OpBeginsWith)
}

// DescribeRange returns a range of sort positions in words, as
// SK from "a" to before "b", or "all of it".
func (s *Schema) DescribeRange(r store.Range) string {
	low, high := s.end(r.Lo, false, true), s.end(r.Hi, true, true)
	switch {
	case r.Lo == nil && r.Hi == nil:
		return "all of it"
	case r.Hi == nil:
		return s.sortName() + " " + low.Words
	case r.Lo == nil:
		return s.sortName() + " " + high.Words
	case low.Inclusive && high.Inclusive && low.Text == high.Text:
		return s.sortName() + " = " + low.Text
	case high.Inclusive:
		return s.sortName() + " " + low.Words + " " + high.Words
	}
	return s.sortName() + " " + low.Words + " to " + high.Words
}

// end describes one end of a range. In a table that is not ordered by a number,
// a zero byte at the end of a position makes it the first above a value if
// zero says so.
func (s *Schema) end(b []byte, upper, zero bool) End {
	if b == nil {
		return End{}
	}
	p := s.describePosition(b, zero)
	e := End{Bytes: b, Text: p.text, Inclusive: p.above == upper}
	switch {
	case upper && p.above:
		e.Words = "up to " + p.text
		if next, ok := s.beforeNext(b); ok {
			e.Words = "before " + next
		}
	case upper:
		e.Words = "before " + p.text
	case p.above:
		e.Words = "after " + p.text
	default:
		e.Words = "from " + p.text
	}
	return e
}

// beforeNext returns the text above an inclusive upper bound that ends in the
// highest character, U+10FFFF, with which requests ask for everything that begins
// with the text before it. Nobody reads that character as a bound.
func (s *Schema) beforeNext(b []byte) (string, bool) {
	const highest = "\U0010FFFF"
	if len(s.Range) != 1 || s.Range[0].Kind != attr.String {
		return "", false
	}
	raw, ok := bytes.CutSuffix(b, []byte{0})
	if s.Table != nil {
		if raw, ok = bytes.CutSuffix(b, []byte{0, 2}); ok {
			raw, _, ok = item.CutKey(nil, append(bytes.Clone(raw), 0, 1))
		}
	}
	if !ok {
		return "", false
	}
	raw, ok = bytes.CutSuffix(raw, []byte(highest))
	last := len(raw) - 1
	if !ok || last < 0 || raw[last] >= 0x7E {
		return "", false
	}
	next := bytes.Clone(raw)
	next[last]++
	return text.Quote(next), true
}

func (s *Schema) sortName() string {
	switch len(s.Range) {
	case 0:
		return "items"
	case 1:
		return text.Name(s.Range[0].Name)
	}
	names := make([]string, len(s.Range))
	for i, a := range s.Range {
		names[i] = text.Name(a.Name)
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// A position is directly below all rows at text, or above them.
type position struct {
	text  string
	above bool
}

// describePosition decodes a position. In a table it is the bytes of the sort
// key; the first position above them ends in one more zero.
func (s *Schema) describePosition(b []byte, zero bool) position {
	if s.Table != nil {
		return s.describeTuple(b)
	}
	if len(s.Range) == 0 {
		return position{text: text.Quote(b)}
	}
	a := s.Range[0]
	if a.Kind == attr.Number && number.Valid(b) {
		return position{text: literal(a, b)}
	}
	if raw, ok := bytes.CutSuffix(b, []byte{0}); ok && (zero || a.Kind == attr.Number) {
		return position{text: literal(a, raw), above: true}
	}
	return position{text: literal(a, b)}
}

// describeTuple decodes a position in an index: components of its key, perhaps
// the start of one, perhaps what orders rows with equal ones.
func (s *Schema) describeTuple(b []byte) position {
	e := position{}
	// The successor of a tuple differs from it in its last byte only.
	if raw, ok := bytes.CutSuffix(b, []byte{0, 2}); ok {
		b, e.above = append(bytes.Clone(raw), 0, 1), true
	}
	var parts []string
	for _, a := range s.Range {
		if len(b) == 0 {
			break
		}
		raw, rest, ok := item.CutKey(nil, b)
		parts = append(parts, literal(a, raw))
		if !ok { // the start of a component, from begins_with
			b = nil
			break
		}
		b = rest
	}
	e.text = strings.Join(parts, ", ")
	if len(s.Range) > 1 {
		e.text = "(" + e.text + ")"
	}
	if len(b) > 0 {
		tie, above := s.Table.describeTie(b)
		e.above = above
		if e.text == "" {
			e.text = "the item " + tie
		} else {
			e.text += " at the item " + tie
		}
	}
	return e
}

// describeTie decodes what orders rows with equal index keys: three bytes of
// hash, the table's partition key and its sort key. A position after a row ends
// in one more zero.
func (s *Schema) describeTie(b []byte) (words string, above bool) {
	if len(b) < 3 {
		return text.Hex(b), false
	}
	pk, rest, ok := item.CutKey(nil, b[3:])
	if !ok {
		return text.Hex(b), false
	}
	words = literal(s.Hash[0], pk)
	if len(s.Range) == 0 {
		return words, len(rest) > 0
	}
	at := s.describePosition(rest, true)
	return "(" + words + ", " + at.text + ")", at.above
}

func literal(a Attribute, raw []byte) string {
	switch {
	case a.Kind == attr.String:
		return text.Quote(raw)
	case a.Kind == attr.Number && number.Valid(raw):
		return string(number.AppendText(nil, raw))
	}
	return text.Hex(raw)
}
