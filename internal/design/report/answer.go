package report

import (
	"github.com/sortkey/sortkey/internal/text"
)

// A bound is a part of the border of a slice: its words, and its bytes in hexadecimal or "".
type bound struct{ Name, Words, Hex string }

// boundBytes is the number of bytes of a bound that a page shows.
const boundBytes = 64

// Bounds are the partition and the ends of the range that the request reads, none for a scan. The bytes are
// those of a range that holds its start and not its end.
func (p *pattern) Bounds() []bound {
	r := p.Report
	if r.Operation == "Scan" || r.Partition.Bytes == nil {
		return nil
	}
	all := []bound{{"partition", r.Partition.Text, hexOf("", r.Partition.Bytes)}}
	if r.Schema == nil || len(r.Schema.Sort()) == 0 {
		return all
	}
	low, high := r.Ends()
	from, below := "", ""
	if !r.Low.Inclusive {
		from = "from "
	}
	if r.High.Inclusive {
		below = "below "
	}
	return append(all,
		bound{"low end", low, hexOf(from, r.Low.Bytes)}, bound{"high end", high, hexOf(below, r.High.Bytes)})
}

// hexOf returns the first bytes of a bound in hexadecimal, after a word.
func hexOf(before string, b []byte) string {
	switch {
	case b == nil:
		return ""
	case len(b) > boundBytes:
		return before + text.Hex(b[:boundBytes]) + "… (" + text.Count(len(b), "byte") + ")"
	}
	return before + text.Hex(b)
}

// Nothing says what to do about a request that finds no rows.
func (p *pattern) Nothing() string {
	r := p.Report
	switch {
	case r.Start != nil:
		return "No rows follow the ExclusiveStartKey. Leave it out to read from the beginning."
	case r.Operation == "Scan":
		return "There are no rows here yet. Put an item first."
	case r.Operation == "GetItem" && (r.Before != nil || r.After != nil):
		return "No item has this key. Compare it with the nearest ones above."
	case r.Before != nil || r.After != nil:
		return "No rows are in this range. Change the sort condition: the rows just outside it are above."
	case len(r.Clauses) > len(r.Schema.Partition()):
		return "No rows are in this range, nor beside it. Leave out the sort condition to see what the partition has."
	}
	return "No rows have this partition key. Compare it with the keys of the table, letter by letter."
}

// Several reports whether the service accepts a statement that is several requests, of which none is drawn.
func (p *pattern) Several() bool { return p.Report.Refused.Code == "" }
