package capability

import (
	"context"
	"errors"

	"github.com/sortkey/sortkey/store"
)

// ErrChanged is returned by the methods of a Store from [Sharer.Expecting] if the expected row has changed.
var ErrChanged = errors.New("store: an expected row has changed")

// A Sharer is a [store.Store] whose rows other Stores, in this or other processes, use at the same time.
type Sharer interface {
	store.Store

	// Expecting returns a view of the store that works only while a row has the given value, or is missing if value
	// is nil. If the row differs, View, Update and Get return [ErrChanged], and an Update is not applied. Callers use
	// it to rely on data that they cached while the row had that value.
	//
	// The store reads the row together with the first row that the function of a View or an Update reads. The caller
	// must not change the arguments afterwards. To close the result, close the original store. The result is a
	// [Getter] if the original store is one.
	Expecting(space store.Space, partition, sort, value []byte) store.Store

	// Lease takes the lease called name. Only one Store at a time has that lease, so only one does the work that
	// needs it. If another Store has the lease, held is nil. Otherwise held is derived from ctx, and ends if the
	// lease cannot be renewed in time. Another Store can then take the lease. It can also do so some seconds after
	// this process has died. The caller must call release before Close.
	Lease(ctx context.Context, name string) (held context.Context, release func(), err error)
}
