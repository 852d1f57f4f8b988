package sortkey

import (
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// A Trace says what one page of a query or scan read. It comes from the code
// that counts the consumed capacity, so the two cannot differ.
type Trace struct {
	Operation string // Query or Scan
	Table     string
	Index     string // "" for the table itself
	// Partition is the partition key that a query read, attribute by attribute in the
	// order of the key; nil for a scan.
	Partition []attr.Attribute
	// SortKey are the names of the sort key's attributes. Low and High are the ends of the
	// range of sort keys that a query read, nil where it is open. The range of a page that
	// goes on after another begins, or in reverse ends, after its ExclusiveStartKey.
	SortKey   []string
	Low, High *Bound
	// Span is the part of scan order that a scan read; the zero value for a query.
	Span       store.Span
	Reverse    bool
	Consistent bool
	// Examined counts the rows read; Returned counts those that the filter
	// kept.
	Examined, Returned int
	// Bytes is the documented size of the rows read; Fetched is the size of the
	// items that a local index fetched from the table.
	Bytes, Fetched int
	// Units are the read units consumed.
	Units float64
	// Stop says why the page ended.
	Stop Stop
}

// A Bound is one end of a range of sort keys.
type Bound struct {
	// Sort are the values of the sort key's attributes at the bound, in the order of the
	// key. Those that the bound leaves open are missing. The last may be the beginning of a
	// value, or what follows all values with a beginning, and then need not be UTF-8.
	Sort []attr.Attribute
	// Item is the primary key of the item at the bound, in an index, where items with equal
	// sort keys are in an order too; nil where the bound is that of the sort key alone.
	Item []attr.Attribute
	// Inclusive says whether the range holds the rows at the bound.
	Inclusive bool
}

// A Stop is the reason why a page ended.
type Stop string

// The reasons for a page to end.
const (
	StopEnd    Stop = "end"    // at the end of the range
	StopLimit  Stop = "limit"  // at the Limit of the request
	StopSize   Stop = "size"   // at 1 MB, the size of a page in the documentation
	StopAnswer Stop = "answer" // at the longest answer in JSON
)

// String returns the reason in words, such as "end of the range".
func (s Stop) String() string { return keycond.Stop(s).String() }

// Slice returns the partition and the range that was read, in words.
func (t Trace) Slice() string {
	s := ""
	if t.Operation == "Scan" {
		s = describeSpan(t.Span)
	} else {
		low, high := (*keycond.Bound)(t.Low), (*keycond.Bound)(t.High)
		s = keycond.DescribePartition(t.Partition) + ", " + keycond.DescribeRange(t.SortKey, low, high)
	}
	if t.Reverse {
		s += ", backwards"
	}
	return s
}

// Cost returns the cost of reading the slice: rows, bytes and read units. It
// adds where the page stopped unless that is the end of the range.
func (t Trace) Cost() string {
	var b strings.Builder
	fmt.Fprintf(
		&b, "%s examined, %s returned, %s", text.Count(t.Examined, "row"), text.Thousands(t.Returned),
		text.Count(t.Bytes, "byte"),
	)
	if t.Fetched > 0 {
		fmt.Fprintf(&b, " and %s from the table", text.Count(t.Fetched, "byte"))
	}
	unit := "read units"
	if t.Units == 1 {
		unit = "read unit"
	}
	fmt.Fprintf(&b, ", %v %s", t.Units, unit)
	if t.Stop != StopEnd && t.Stop != "" {
		b.WriteString(", stopped at " + t.Stop.String())
	}
	return b.String()
}

// String returns the slice and its cost.
func (t Trace) String() string { return t.Slice() + ": " + t.Cost() }

func newTrace(tr *table.Trace) Trace {
	t := Trace{
		Operation: tr.Operation, Table: tr.Table, Index: tr.Index, Reverse: tr.Reverse, Consistent: tr.Consistent,
		Examined: tr.Examined, Returned: tr.Returned, Bytes: tr.Bytes, Fetched: tr.Fetched, Units: tr.Units,
		Stop: Stop(tr.Stop),
	}
	if tr.Operation == "Scan" {
		t.Span = tr.Span
		return t
	}
	t.Partition, t.SortKey = tr.Key.PartitionKey(tr.Partition), tr.Key.SortNames()
	low, high := tr.Key.Bounds(tr.Range)
	t.Low, t.High = (*Bound)(low), (*Bound)(high)
	return t
}

// describeSpan describes a range of scan order in words.
func describeSpan(s store.Span) string {
	where := fmt.Sprintf("hashes %06x to %06x", s.First, s.Last)
	if s.First == 0 && s.Last == store.MaxHash {
		where = "all partitions"
	}
	if s.After != nil {
		where += ", after partition " + text.Quote(s.After.Partition)
	}
	return where
}
