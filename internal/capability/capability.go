// Package capability has what a store may do beyond package store, so that the database is faster, smaller or shared on
// it. A store that lacks one works all the same.
package capability

import (
	"context"

	"github.com/sortkey/sortkey/store"
)

// ContextRows is the most rows that an iterator may yield between two checks of
// its context.
const ContextRows = 1024

// A Getter is a [store.Store] that reads a single row faster than a View does.
type Getter interface {
	store.Store

	// Get is a View of one Get. The value stays valid; the caller must not change it.
	Get(ctx context.Context, space store.Space, partition, sort []byte) (value []byte, ok bool, err error)
}

// A Prefetcher is a [store.Reader] that reads the rows at several addresses in one round trip,
// where reading each would take one.
type Prefetcher interface {
	store.Reader

	// Prefetch reads the rows at addresses ([address.Append]), whether they exist or not,
	// so that Get has them without a round trip: in a View, until the next Prefetch. The
	// caller must not change the addresses afterwards. Get returns the same with and
	// without it.
	Prefetch(addrs [][]byte) error
}

// A Presumer is a [store.Writer] that can take a row for one that does not exist without
// reading it, so that no other Update conflicts with that.
type Presumer interface {
	store.Writer

	// Presume says that the Update is going to add the row at an address
	// ([address.Append]), and that the row does not exist: Get then says so without reading
	// it. If it does exist, the Update calls its function again, and Get reads the row.
	Presume(addr []byte)
}

// A Loader is a [store.Store] that takes many rows that are in order faster than an Update does.
type Loader interface {
	store.Store

	// Load calls fn once and, if fn returns nil, makes the changes that it has added visible
	// at once, as an Update does: Updates and Loads are serialisable together. If fn returns an
	// error or panics, nothing changes.
	Load(ctx context.Context, fn func(store.Loading) error) error
}

// A ClearLimiter is a [store.Store] whose Updates can change only so much. In such a store,
// Clear of a large space fails.
type ClearLimiter interface {
	store.Store

	// ClearLimit returns how many rows an Update can delete in any case. Callers delete
	// the rows of a space that may have more in several Updates, once nobody reads or
	// writes the space any more.
	ClearLimit() int
}

// A Compactor is a [store.Store] that can put its rows into less memory or disk space.
type Compactor interface {
	store.Store

	// Compact rewrites rows that take more space than they need. Nobody can read a difference, and
	// Views and Updates go on meanwhile. It ends early when ctx ends; what it has done until then
	// stays. It must not be called in the function of an Update.
	Compact(ctx context.Context) error
}

// A Measurer is a [store.Store] that knows what it keeps.
type Measurer interface {
	store.Store

	// Usage returns how many states before the latest are kept because Views read them, each with
	// the rows that have been replaced since, and the bytes of the store's files, 0 for a store in
	// memory. Both are 0 after Close.
	Usage() (versions int, diskBytes int64)
}

// A HealthChecker is a [store.Store] for which [Health] asks more than an empty View.
type HealthChecker interface {
	store.Store

	// Health implements [Health].
	Health(ctx context.Context) error
}

// Health returns why st does not work, such as [store.ErrClosed] or the error of the disk that
// stopped it, or nil. It waits for no View and no Update of others: a store that is busy,
// even with an Update that takes long, is healthy.
func Health(ctx context.Context, st store.Store) error {
	if h, ok := st.(HealthChecker); ok {
		return h.Health(ctx)
	}
	return st.View(ctx, func(store.Reader) error { return nil })
}
