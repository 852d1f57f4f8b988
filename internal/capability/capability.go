// Package capability defines optional abilities of a store, beyond those in package store. With them the database is
// faster or smaller, or can share its store with other servers.
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

	// Get reads one row, like a View with one Get. The value stays valid. The caller must not change it.
	Get(ctx context.Context, space store.Space, partition, sort []byte) (value []byte, ok bool, err error)
}

// A Prefetcher is a [store.Reader] that can read the rows at several addresses in one round trip.
type Prefetcher interface {
	store.Reader

	// Prefetch reads the rows at addresses made by [address.Append], so that Get needs no round trip for them. In a
	// View, this holds until the next Prefetch. The rows need not exist. The caller must not change the addresses
	// afterwards. Prefetch never changes the results of Get.
	Prefetch(addrs [][]byte) error
}

// A Presumer is a [store.Writer] that can presume that a row does not exist, without reading it. If an Update reads a
// row that does not exist, it conflicts with Updates that add rows nearby. With Presume it does not.
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

	// Load calls fn once. If fn returns nil, the rows that it has added become visible at once, as after an Update.
	// Loads are serialisable with Updates and other Loads. If fn returns an error or panics, nothing changes.
	Load(ctx context.Context, fn func(store.Loading) error) error
}

// A ClearLimiter is a [store.Store] whose Updates can change only a limited number of rows. Its Clear fails for a
// large space.
type ClearLimiter interface {
	store.Store

	// ClearLimit returns the number of rows that an Update can always delete. To clear a space that may have more
	// rows, wait until no one uses the space, and delete its rows in several Updates.
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

	// Usage returns the number of earlier versions that the store keeps because Views still read them. Each version
	// keeps the rows that were replaced since. Usage also returns the number of bytes in the store's files, which is
	// 0 for a store in memory. After Close both numbers are 0.
	Usage() (versions int, diskBytes int64)
}

// A HealthChecker is a [store.Store] with its own health check. For other stores, [Health] runs an empty View.
type HealthChecker interface {
	store.Store

	// Health implements [Health].
	Health(ctx context.Context) error
}

// Health returns nil if st works. Otherwise it returns the reason, such as [store.ErrClosed] or the disk error that
// stopped st. Health does not wait for other Views or Updates: a store that is busy with a long Update is healthy.
func Health(ctx context.Context, st store.Store) error {
	if h, ok := st.(HealthChecker); ok {
		return h.Health(ctx)
	}
	return st.View(ctx, func(store.Reader) error { return nil })
}
