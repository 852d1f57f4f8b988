package store

import "context"

// A Forker is a [Store] that can be copied as it is at one moment.
type Forker interface {
	Store

	// Fork returns a new store with the same rows. Changes to either do not
	// show in the other, and each is closed on its own. Updates that have
	// returned are in the fork; one still running is in it whole or not at all.
	// The error is [ErrClosed] for a store that is closed.
	Fork() (Store, error)
}

// A Snapshotter is a [Store] that can be copied to a folder, to keep.
type Snapshotter interface {
	Store

	// Snapshot makes a copy of the store, as it is now, in a folder that must
	// not exist. It ends early when ctx does.
	Snapshot(ctx context.Context, dir string) error
}
