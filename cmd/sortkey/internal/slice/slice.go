// Package slice puts into words what a query read: the partition, the two ends
// of the slice of it, and what the reading came to.
package slice

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/model"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/show"
	"github.com/sortkey/sortkey/internal/item"
	"github.com/sortkey/sortkey/internal/number"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// Words are a trace in words.
type Words struct {
	// Partition is the partition, as PK = "x", or empty for a scan.
	Partition string `json:"partition,omitempty"`
	// Sort is the slice of it, as SK from "a" to before "b", or "all of it".
	Sort string `json:"sort"`
	// Read says how many rows were read and returned and what they came to.
	Read string `json:"read"`
}

// Of returns what the trace of a read of table t says.
func Of(tr table.Trace, t *model.Table) Words {
	w := Words{Read: read(tr)}
	schema, ok := t.Schema(tr.Index)
	if tr.Operation == "Scan" || !ok {
		w.Sort = span(tr.Span)
		return w
	}
	w.Partition = partition(schema, tr.Partition)
	w.Sort = sort(schema, tr.Range)
	if tr.Reverse {
		w.Sort += ", backwards"
	}
	return w
}

// String returns the slice without what the reading came to.
func (w Words) String() string {
	if w.Partition == "" {
		return w.Sort
	}
	return w.Partition + ", " + w.Sort
}

func read(tr table.Trace) string {
	s := count(tr.Examined, "row") + " examined, " + fmt.Sprint(tr.Returned) + " returned, " + count(tr.Bytes, "byte")
	if tr.Fetched > 0 {
		s += " and " + count(tr.Fetched, "byte") + " from the table"
	}
	s += fmt.Sprintf(", %v read units", tr.Units)
	if tr.Units == 1 {
		s = strings.TrimSuffix(s, "s")
	}
	if tr.Stop != table.StopEnd && tr.Stop != "" {
		s += ", stopped at " + string(tr.Stop)
	}
	return s
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func span(s store.Span) string {
	where := fmt.Sprintf("hashes %06x to %06x", s.First, s.Last)
	if s.First == 0 && s.Last == store.MaxHash {
		where = "all partitions"
	}
	if s.After != nil {
		where += fmt.Sprintf(", after partition %s", show.Quote(s.After.Partition))
	}
	return where
}

// partition takes the partition bytes apart: components with an end, the last
// one without.
func partition(s *keycond.Schema, b []byte) string {
	parts := make([]string, 0, len(s.Hash))
	for i, a := range s.Hash {
		raw := b
		if i < len(s.Hash)-1 {
			var ok bool
			if raw, b, ok = item.CutKey(nil, b); !ok {
				break
			}
		}
		parts = append(parts, show.Name(a.Name)+" = "+literal(a, raw))
	}
	return strings.Join(parts, " and ")
}

// sort says which slice of a partition a range is.
func sort(s *keycond.Schema, r store.Range) string {
	if r.Lo == nil && r.Hi == nil {
		return "all of it"
	}
	lo, hi := position(s, r.Lo), position(s, r.Hi)
	name := sortName(s)
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

func sortName(s *keycond.Schema) string {
	switch len(s.Range) {
	case 0:
		return "items"
	case 1:
		return show.Name(s.Range[0].Name)
	}
	names := make([]string, len(s.Range))
	for i, a := range s.Range {
		names[i] = show.Name(a.Name)
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// An end of a range: directly below all rows at text, or above them.
type end struct {
	text  string
	above bool
}

// position takes an end of a range apart. In a table a position is the bytes
// of the sort key; the lowest position above them ends in one more zero.
func position(s *keycond.Schema, b []byte) end {
	if s.Table != nil {
		return tuple(s, b)
	}
	if len(s.Range) == 0 {
		return end{text: show.Quote(b)}
	}
	a := s.Range[0]
	if a.Kind == attr.Number && isNumber(b) {
		return end{text: literal(a, b)}
	}
	if raw, ok := bytes.CutSuffix(b, []byte{0}); ok {
		return end{text: literal(a, raw), above: true}
	}
	return end{text: literal(a, b)}
}

// tuple takes an end of a range of an index apart: components of the index,
// perhaps the start of one, perhaps what orders rows with equal ones.
func tuple(s *keycond.Schema, b []byte) end {
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
		tie, above := tie(s.Table, b)
		e.above = above
		if e.text == "" {
			e.text = "the item " + tie
		} else {
			e.text += " at the item " + tie
		}
	}
	return e
}

// tie takes apart what orders rows with equal index keys: three bytes of hash,
// the table's partition key and its sort key. A position after a row ends in
// one more zero.
func tie(key *keycond.Schema, b []byte) (text string, above bool) {
	if len(b) < 3 {
		return show.Hex(b), false
	}
	pk, rest, ok := item.CutKey(nil, b[3:])
	if !ok {
		return show.Hex(b), false
	}
	text = literal(key.Hash[0], pk)
	if len(key.Range) == 0 {
		return text, len(rest) > 0
	}
	at := position(key, rest)
	return "(" + text + ", " + at.text + ")", at.above
}

func literal(a keycond.Attribute, raw []byte) string {
	switch {
	case a.Kind == attr.String:
		return show.Quote(raw)
	case a.Kind == attr.Number && isNumber(raw):
		return string(number.AppendText(nil, raw))
	}
	return show.Hex(raw)
}

// isNumber reports whether raw is the stored form of a number, rather than
// the start or the successor of one.
func isNumber(raw []byte) bool {
	again, err := attr.AppendNumber(nil, string(number.AppendText(nil, raw)))
	return err == nil && bytes.Equal(again, raw)
}
