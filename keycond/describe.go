package keycond

import (
	"bytes"
	"strings"

	"github.com/sortkey/sortkey/attr"
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

// DescribeRange returns a range of sort positions in words, as
// SK from "a" to before "b", or "all of it".
func (s *Schema) DescribeRange(r store.Range) string {
	if r.Lo == nil && r.Hi == nil {
		return "all of it"
	}
	lo, hi := s.describeEnd(r.Lo), s.describeEnd(r.Hi)
	name := s.sortName()
	switch {
	case r.Hi == nil:
		return name + " " + from(lo)
	case r.Lo == nil:
		return name + " up to " + to(hi)
	case hi.above && !lo.above && lo.text == hi.text:
		return name + " = " + lo.text
	}
	return name + " " + from(lo) + " to " + to(hi)
}

func from(e end) string {
	if e.above {
		return "after " + e.text
	}
	return "from " + e.text
}

func to(e end) string {
	if e.above {
		return e.text + " itself"
	}
	return "before " + e.text
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

// An end of a range: directly below all rows at text, or above them.
type end struct {
	text  string
	above bool
}

// describeEnd takes an end of a range apart. In a table a position is the bytes
// of the sort key; the lowest position above them ends in one more zero.
func (s *Schema) describeEnd(b []byte) end {
	if s.Table != nil {
		return s.describeTuple(b)
	}
	if len(s.Range) == 0 {
		return end{text: text.Quote(b)}
	}
	a := s.Range[0]
	if a.Kind == attr.Number && number.Valid(b) {
		return end{text: literal(a, b)}
	}
	if raw, ok := bytes.CutSuffix(b, []byte{0}); ok {
		return end{text: literal(a, raw), above: true}
	}
	return end{text: literal(a, b)}
}

// describeTuple takes an end of a range of an index apart: components of the index,
// perhaps the start of one, perhaps what orders rows with equal ones.
func (s *Schema) describeTuple(b []byte) end {
	e := end{}
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

// describeTie takes apart what orders rows with equal index keys: three bytes of hash,
// the table's partition key and its sort key. A position after a row ends in
// one more zero.
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
	at := s.describeEnd(rest)
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
