package explain

import (
	"slices"
	"unicode/utf8"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// spelled formats conditions with names and values in place of their placeholders.
var spelled = ast.Style{Name: text.Name, Value: text.Literal}

// clausesText returns key conditions as a person would write them.
func clausesText(clauses []keycond.Clause) string {
	return (&keycond.Slice{Clauses: clauses}).String()
}

// KeyCondition returns the key conditions as one expression, or "" for a Scan.
func (r *Report) KeyCondition() string { return clausesText(r.Clauses) }

// bounds sets r.Clauses, r.Partition, r.Low and r.High from a slice.
func (r *Report) bounds(slice *keycond.Slice) {
	r.Clauses = slice.Clauses
	r.Partition = End{
		Bytes: slice.Partition, Text: clausesText(slice.Clauses[:len(r.Schema.Partition())]), Inclusive: true,
	}
	names := r.Schema.SortNames()
	low, high := slice.Ends()
	r.Low, r.High = endOf(slice.Range.Lo, low, names, false), endOf(slice.Range.Hi, high, names, true)
}

// An End is one end of a range.
type End struct {
	// Bytes is the encoded key at the end of the range, or nil if the range is open. A range includes its lower
	// position and excludes its upper one. If the upper end is inclusive, Bytes is therefore the position after the
	// rows at Text.
	Bytes []byte `json:"-"`
	// Text is the position as a value in an expression; see [keycond.Bound.Text].
	Text string `json:"text"`
	// Inclusive is true if the range includes the rows at Text.
	Inclusive bool `json:"inclusive"`
	// Words is Text with "from", "after", "up to" or "before" in front.
	Words string `json:"-"`
}

func endOf(position []byte, b *keycond.Bound, names []string, upper bool) End {
	if b == nil {
		return End{}
	}
	return End{Bytes: position, Text: b.Text(names), Inclusive: b.Inclusive, Words: b.Words(names, upper)}
}

// An edge is the lower or upper end of a condition on one attribute.
type edge struct {
	open      bool
	inclusive bool
	value     attr.Value
}

// edges returns both edges of a clause.
func edges(c keycond.Clause) (low, high edge) {
	open := edge{open: true}
	v := c.Values[0]
	switch c.Op {
	case ast.Less:
		return open, edge{value: v}
	case ast.LessOrEqual:
		return open, edge{value: v, inclusive: true}
	case ast.Greater:
		return edge{value: v}, open
	case ast.GreaterOrEqual:
		return edge{value: v, inclusive: true}, open
	case ast.OpBetween:
		return edge{value: v, inclusive: true}, edge{value: c.Values[1], inclusive: true}
	case ast.OpBeginsWith:
		low = edge{value: v, inclusive: true}
		next, ok := afterPrefix(v)
		if !ok {
			return low, open
		}
		return low, edge{value: next}
	}
	return edge{value: v, inclusive: true}, edge{value: v, inclusive: true}
}

// afterPrefix returns the lowest value of v's kind that is above all values that begin with v. It returns false if
// there is no such value. Strings are valid UTF-8, so it increments the last character.
func afterPrefix(v attr.Value) (attr.Value, bool) {
	if v.Kind() == attr.Binary {
		upper := store.AppendUpper(nil, v.Raw())
		return attr.NewBinary(upper), upper != nil
	}
	const first, last = 0xD800, 0xDFFF // surrogates are not characters
	raw := v.Raw()
	for len(raw) > 0 {
		r, n := utf8.DecodeLastRune(raw)
		raw = raw[:len(raw)-n]
		if r >= utf8.MaxRune {
			continue
		}
		if r++; r >= first && r <= last {
			r = last + 1
		}
		return attr.NewString(string(utf8.AppendRune(slices.Clip(raw), r))), true
	}
	return attr.Value{}, false
}
