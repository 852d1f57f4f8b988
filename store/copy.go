package store

import "context"

// A Forker is a [Store] that can be copied quickly, as tests do that begin with the same rows. The stores of packages
// memory and disk are Forkers.
type Forker interface {
	Store

	// Fork returns a new store with the same rows as now. Neither sees later
	// changes of the other, and each needs its own Close. Updates that have
	// returned are in the fork; one still running is in it completely or not at
	// all. The error is [ErrClosed] for a closed store.
	Fork() (Store, error)

	// ForksInstantly reports whether Fork takes the same few microseconds whatever the
	// size of the store and how often it is called, so that earlier versions of the rows
	// can be kept.
	ForksInstantly() bool
}

// A Snapshotter is a [Store] that can be copied to a folder for good, as a backup. The store of package disk is one.
type Snapshotter interface {
	Store

	// Snapshot copies the store, as it is now, to a folder that must not exist.
	// It stops early when ctx ends.
	Snapshot(ctx context.Context, dir string) error
}
