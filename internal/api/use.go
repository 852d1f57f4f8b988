package api

import (
	"context"

	"github.com/sortkey/sortkey/internal/table"
)

// A Use is what an operation consumed of one table, whether or not its answer
// tells. A write whose condition failed has consumed its units; any other
// operation that ended in an error has no Use.
type Use struct {
	Table string
	// Write says that the units are those of writes.
	Write bool
	table.Capacity
}

type useKey struct{}

// WithUse returns a context in which every operation calls report with what it
// consumed, once for each table, when it is done, and then what ctx had
// already. Report may be called from the goroutines that run the operations,
// and keeps nothing of the Use.
func WithUse(ctx context.Context, report func(*Use)) context.Context {
	all := report
	if outer, ok := ctx.Value(useKey{}).(func(*Use)); ok {
		all = func(u *Use) {
			report(u)
			outer(u)
		}
	}
	return context.WithValue(ctx, useKey{}, all)
}

// reportUse tells those who asked what was consumed.
func reportUse(ctx context.Context, uses ...Use) {
	if report, ok := ctx.Value(useKey{}).(func(*Use)); ok {
		for _, u := range uses { // a copy, which report may make live longer
			report(&u)
		}
	}
}
