package store

import (
	"context"
	"errors"
)

// ErrChanged is returned by the calls of a Store of [Sharer.Expecting] when the row
// has another value.
var ErrChanged = errors.New("store: an expected row has changed")

// A Sharer is a [Store] whose rows other Stores use at the same time, in this process
// or in others.
type Sharer interface {
	Store

	// Expecting returns the store for callers who keep in memory what its rows said
	// while one row had a value, or did not exist if the value is nil. View, Update
	// and Get of the result read that row too, in the same state. If it has another
	// value they fail with [ErrChanged], whatever their function returned, and an
	// Update is not applied. An Update that commits comes before every one that
	// changes the row later, so none of them misses it.
	//
	// The row is read along with the first read of the function. The arguments must
	// not be changed afterwards. The result is closed with s, and is a [Getter] if
	// s is one.
	Expecting(space Space, partition, sort, value []byte) Store

	// Lease takes the lease called name, so that one Store at a time does what it
	// stands for. If another Store has it, held is nil. Held is derived from ctx and
	// ends when the lease is lost, because it could not be renewed. Another Store
	// can then take it, as it can a few seconds after the process of this one has
	// died. The caller calls release in the end, before Close.
	Lease(ctx context.Context, name string) (held context.Context, release func(), err error)
}
