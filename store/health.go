package store

import "context"

// A HealthChecker is a [Store] for which [Health] asks more than an empty View.
type HealthChecker interface {
	Store

	// Health implements [Health].
	Health(ctx context.Context) error
}

// Health returns why st does not work, such as [ErrClosed] or the error of the disk that
// stopped it, or nil. It waits for no View and no Update of others: a store that is busy,
// even with an Update that takes long, is healthy.
func Health(ctx context.Context, st Store) error {
	if h, ok := st.(HealthChecker); ok {
		return h.Health(ctx)
	}
	return st.View(ctx, func(Reader) error { return nil })
}
