package sortkey

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// A Trace describes what one page of a query or scan read, which explains the cost of the page. [Page].Trace and
// [Event.Traces] return traces. The code that counts the consumed capacity also makes the trace, so the two always
// agree.
type Trace struct {
	Operation string `json:"operation"` // Query or Scan
	Table     string `json:"table"`
	Index     string `json:"index,omitempty"` // "" for the table itself
	// Partition is the partition key that a query read: its attributes in the order of the key. It is nil for a scan.
	Partition []attr.Attribute `json:"partition,omitempty"`
	// SortKey are the names of the sort key's attributes. Low and High are the ends of the range of sort keys that a
	// query read, or nil where the range is open. If the page continues another page, the range begins after the
	// ExclusiveStartKey or, in reverse order, ends before it.
	SortKey []string       `json:"sort_key,omitempty"`
	Low     *keycond.Bound `json:"low,omitempty"`
	High    *keycond.Bound `json:"high,omitempty"`
	// Span is the range of key hashes that a scan read. It is the zero value for a query.
	Span       store.Span `json:"span,omitzero"`
	Reverse    bool       `json:"reverse,omitempty"`
	Consistent bool       `json:"consistent,omitempty"`
	// Examined is the number of rows that the page read. Returned is the number of those that passed the filter.
	Examined int `json:"examined"`
	Returned int `json:"returned"`
	// Bytes is the size of the rows read, as DynamoDB documents it. Fetched is the size of the items that a read of a
	// local index fetched from the table.
	Bytes   int `json:"bytes"`
	Fetched int `json:"fetched,omitempty"`
	// Units are the read units consumed.
	Units float64 `json:"units"`
	// Stop says why the page ended.
	Stop keycond.Stop `json:"stop"`
}

// plainTrace is a Trace without methods, for its JSON.
type plainTrace Trace

// MarshalJSON implements [encoding/json.Marshaler]. The JSON has the slice both in words, for programs that only show
// it, and as values in DynamoDB JSON. [encoding/json.Unmarshal] reads it into a Trace.
func (t Trace) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Slice string `json:"slice"`
		plainTrace
	}{t.Slice(), plainTrace(t)})
}

// Slice describes the partition and the range that the page read, in words, for logs and messages.
func (t Trace) Slice() string {
	s := ""
	if t.Operation == "Scan" {
		s = describeSpan(t.Span)
	} else {
		s = keycond.DescribePartition(t.Partition) + ", " + keycond.DescribeRange(t.SortKey, t.Low, t.High)
	}
	if t.Reverse {
		s += ", backwards"
	}
	return s
}

// Cost describes the cost of the page: rows, bytes and read units. Unless the page reached the end of the range, Cost
// also says where it stopped.
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
	if t.Stop != keycond.StopEnd && t.Stop != "" {
		b.WriteString(", stopped at " + t.Stop.String())
	}
	return b.String()
}

// String returns what [Trace.Slice] and [Trace.Cost] return, on one line.
func (t Trace) String() string { return t.Slice() + ": " + t.Cost() }

// describeSpan describes a range of key hashes in words.
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
