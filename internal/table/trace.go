package table

import (
	"context"

	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// A Trace describes what a query or scan has read. Its counts are also those from which the consumed capacity is
// computed, so the two always agree.
type Trace struct {
	Operation string // Query or Scan
	Table     string
	Index     string // "" for the table itself
	// Key is the key of the table or index.
	Key *keycond.Schema
	// Partition is the partition that a query read, and Clauses are its key conditions. Range is the range of sort
	// keys that the query read. It begins after the ExclusiveStartKey.
	Partition []byte
	Clauses   []keycond.Clause
	Range     store.Range
	// Span is the part of the scan order that a scan read.
	Span       store.Span
	Reverse    bool
	Consistent bool
	// Examined is the number of rows read. Returned is the number of those that passed the filter.
	Examined, Returned int
	// Bytes is the size of the rows read. Fetched is the size of the items that a local index fetched from the table.
	Bytes, Fetched int
	Units          float64
	// Stop says why the page ended.
	Stop keycond.Stop
}

type traceKey struct{}

// WithTrace returns a derived context. Each query and scan with that context calls report when it ends, in its own
// goroutine. If ctx already has such a function, both are called.
func WithTrace(ctx context.Context, report func(Trace)) context.Context {
	all := report
	if outer, ok := ctx.Value(traceKey{}).(func(Trace)); ok {
		all = func(tr Trace) {
			report(tr)
			outer(tr)
		}
	}
	return context.WithValue(ctx, traceKey{}, all)
}

func reportTrace(ctx context.Context, tr Trace) {
	if report, ok := ctx.Value(traceKey{}).(func(Trace)); ok {
		report(tr)
	}
}
