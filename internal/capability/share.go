package capability

import (
	"context"
	"errors"

	"github.com/sortkey/sortkey/store"
)

// ErrChanged is returned by the methods of a Store from [Sharer.Expecting] when the
// expected row has another value.
var ErrChanged = errors.New("store: an expected row has changed")

// A Sharer is a [store.Store] whose rows other Stores use at the same time, in this process
// or in others.
type Sharer interface {
	store.Store

	// Expecting returns the store for callers that keep in memory what they read while
	// one row had a value; nil means that the row did not exist. View, Update and Get
	// of the result read that row too, in the same state. If it has another value, they
	// fail with [ErrChanged], whatever their function returned, and an Update is not
	// applied. An Update that commits comes before every Update that changes the row
	// later, so none of those misses it.
	//
	// The row is read along with the first read of the function. The arguments must
	// not be changed afterwards. The result is closed with the original store, and is
	// a [Getter] if that is one.
	Expecting(space store.Space, partition, sort, value []byte) store.Store

	// Lease takes the lease called name, so that one Store at a time does the work it
	// stands for. If another Store has it, held is nil. Held is derived from ctx, and
	// ends when the lease is lost because it could not be renewed. Another Store can
	// then take it, as it can some seconds after the process of this one has died. The
	// caller must call release in the end, before Close.
	Lease(ctx context.Context, name string) (held context.Context, release func(), err error)
}
