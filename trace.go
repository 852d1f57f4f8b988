package sortkey

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/store"
)

// A Trace says what one page of a query or scan read. It comes from the code
// that counts the consumed capacity, so the two cannot differ.
type Trace struct {
	Operation string `json:"operation"` // Query or Scan
	Table     string `json:"table"`
	Index     string `json:"index,omitempty"` // "" for the table itself
	// Partition is the partition that a query read, such as PK = "a"; "" for a
	// scan.
	Partition string `json:"partition,omitempty"`
	// Range is the range of the partition that was read, such as SK from "a" to
	// before "b", or "all of it". It starts after the ExclusiveStartKey. For a
	// scan it is a range of scan order, such as "all partitions".
	Range      string `json:"range"`
	Reverse    bool   `json:"reverse,omitempty"`
	Consistent bool   `json:"consistent,omitempty"`
	// Examined counts the rows read; Returned counts those that the filter
	// kept.
	Examined int `json:"examined"`
	Returned int `json:"returned"`
	// Bytes is the documented size of the rows read; Fetched is the size of the
	// items that a local index fetched from the table.
	Bytes   int `json:"bytes"`
	Fetched int `json:"fetched,omitempty"`
	// Units are the read units consumed.
	Units float64 `json:"units"`
	// Stop says why the page ended: "end of the range", "Limit" or "1 MB".
	Stop string `json:"stop"`
}

// Slice returns the partition and the range that was read.
func (t Trace) Slice() string {
	s := t.Range
	if t.Partition != "" {
		s = t.Partition + ", " + s
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
	if t.Stop != string(table.StopEnd) && t.Stop != "" {
		b.WriteString(", stopped at " + t.Stop)
	}
	return b.String()
}

// String returns the slice and its cost.
func (t Trace) String() string { return t.Slice() + ": " + t.Cost() }

func newTrace(tr *table.Trace) Trace {
	t := Trace{
		Operation: tr.Operation, Table: tr.Table, Index: tr.Index, Reverse: tr.Reverse, Consistent: tr.Consistent,
		Examined: tr.Examined, Returned: tr.Returned, Bytes: tr.Bytes, Fetched: tr.Fetched, Units: tr.Units,
		Stop: string(tr.Stop),
	}
	if tr.Operation == "Scan" {
		t.Range = describeSpan(tr.Span)
		return t
	}
	t.Partition, t.Range = tr.Key.DescribePartition(tr.Partition), tr.Key.DescribeRange(tr.Range)
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

// WithTrace returns a context that makes every query and scan of a database
// call report with its trace when it is done. Reports of ctx itself are called
// afterwards. A client of package sdk passes the context of a call to the
// database. Report may be called from the goroutines that run the operations.
func WithTrace(ctx context.Context, report func(Trace)) context.Context {
	return table.WithTrace(ctx, func(tr table.Trace) { report(newTrace(&tr)) })
}

// TraceHeader requests the trace of a query or scan when a request carries it
// with the value 1, and holds the trace in the response. See [ReadTrace].
const TraceHeader = "X-Sortkey-Trace"

// ReadTrace returns the trace in the headers of a response, and whether there
// is one. Other endpoints send none.
func ReadTrace(h http.Header) (Trace, bool) {
	var tr Trace
	header := h.Get(TraceHeader)
	if header == "" || json.Unmarshal([]byte(header), &tr) != nil {
		return Trace{}, false
	}
	return tr, true
}

// traceHandler handles [TraceHeader].
func traceHandler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get(TraceHeader) != "1" {
			next.ServeHTTP(w, req)
			return
		}
		// The trace arrives before the response is written, so the header can
		// still be set.
		ctx := WithTrace(req.Context(), func(tr Trace) {
			if value, err := json.Marshal(tr); err == nil {
				w.Header().Set(TraceHeader, string(value))
			}
		})
		next.ServeHTTP(w, req.WithContext(ctx))
	})
}
