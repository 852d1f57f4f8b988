// Package capability defines what a store may be able to do beyond package store, so that the database is faster or
// smaller on it, or can share it with other servers. All of it is optional.
package capability

import (
	"context"

	"github.com/sortkey/sortkey/store"
)

// ContextRows is the maximum number of rows that an iterator may yield between two checks of its context.
const ContextRows = 1024

// A Getter is a [store.Store] that can read a single row faster than in a View.
type Getter interface {
	store.Store

	// Get reads one row, like a View with one Get. The value stays valid; the caller must not change it.
	Get(ctx context.Context, space store.Space, partition, sort []byte) (value []byte, ok bool, err error)
}

// A Prefetcher is a [store.Reader] that can read the rows at several addresses in one round trip.
type Prefetcher interface {
	store.Reader

	// Prefetch reads the rows at addresses made by [address.Append], so that Get needs no round trip for them: in a
	// View, until the next Prefetch. The rows need not exist. The caller must not change the addresses afterwards.
	// Prefetch never changes the results of Get.
	Prefetch(addrs [][]byte) error
}

// A Presumer is a [store.Writer] that can presume without reading that a row does not exist. So the Update does not
// conflict with Updates that add rows nearby, as it would if it had read there.
type Presumer interface {
	store.Writer

	// Presume announces that the Update is going to add the row at an address made by [address.Append]. Get then
	// returns that the row does not exist, without reading it. If the row does exist, the store calls the function of
	// the Update again, and then Get reads the row.
	Presume(addr []byte)
}

// A Loader is a [store.Store] that can add many sorted rows faster than an Update can.
type Loader interface {
	store.Store

	// Load calls fn once. If fn returns nil, the rows that it has added become visible at once, as after an Update:
	// Updates and Loads are serialisable together. If fn returns an error or panics, nothing changes.
	Load(ctx context.Context, fn func(store.Loading) error) error
}

// A ClearLimiter is a [store.Store] whose Updates can change only a limited number of rows. Its Clear fails for a
// large space.
type ClearLimiter interface {
	store.Store

	// ClearLimit returns the number of rows that an Update can always delete. To clear a space that may have more,
	// callers delete its rows in several Updates, when no one uses the space any more.
	ClearLimit() int
}

// A Compactor is a [store.Store] that can reduce the memory or disk space of its rows.
type Compactor interface {
	store.Store

	// Compact rewrites rows that take more space than they need. Readers see no difference, and Views and Updates
	// continue meanwhile. If ctx ends, Compact returns early and keeps what it has rewritten. Do not call it in the
	// function of an Update.
	Compact(ctx context.Context) error
}

// A Measurer is a [store.Store] that can report its versions and its disk space.
type Measurer interface {
	store.Store

	// Usage returns the number of earlier versions that are kept because Views still read them, each with the rows
	// replaced since, and the bytes of the store's files, which are 0 for a store in memory. Both are 0 after Close.
	Usage() (versions int, diskBytes int64)
}

// A HealthChecker is a [store.Store] with a health check of its own; for others, [Health] tries an empty View.
type HealthChecker interface {
	store.Store

	// Health implements [Health].
	Health(ctx context.Context) error
}

// Health returns nil or why st does not work, such as [store.ErrClosed] or the disk error that stopped it. It does
// not wait for Views or Updates of others: a store that is busy, even with a long Update, is healthy.
func Health(ctx context.Context, st store.Store) error {
	if h, ok := st.(HealthChecker); ok {
		return h.Health(ctx)
	}
	return st.View(ctx, func(store.Reader) error { return nil })
}
