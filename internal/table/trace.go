package table

import (
	"context"

	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/store"
)

// A Trace describes what a query or scan read. The code that counts the consumed
// capacity makes it, so the two cannot differ.
type Trace struct {
	Operation string // Query or Scan
	Table     string
	Index     string // "" for the table itself
	// Key is the key of the table or index.
	Key *keycond.Schema
	// Partition is the partition that a query read, Clauses its key conditions
	// and Range the sort positions it walked, ExclusiveStartKey included.
	Partition []byte
	Clauses   []keycond.Clause
	Range     store.Range
	// Span is the part of scan order that a scan walked.
	Span       store.Span
	Reverse    bool
	Consistent bool
	// Examined counts the rows read, Returned those that passed the filter.
	Examined, Returned int
	// Bytes is the documented size of the rows read, Fetched the size of the items that
	// a local index fetched from the table.
	Bytes, Fetched int
	Units          float64
	// Stop says why the page ended.
	Stop keycond.Stop
}

type traceKey struct{}

// WithTrace returns a context in which every query and scan calls report with its
// trace when it is done, and then the function that ctx had already, so that
// callers at different places all get traces. Report may be called from the
// goroutines that run the operations.
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
