package store

import "context"

// A Forker is a [Store] that can be copied quickly, such as by tests that begin with the same rows. The stores of
// packages memory and disk are Forkers.
type Forker interface {
	Store

	// Fork returns a new store with the rows that the store has now. Later changes of one do not affect the other,
	// and each needs its own Close. Updates that have returned are in the fork; an Update that is still running is in
	// it completely or not at all. The error is [ErrClosed] for a closed store.
	Fork() (Store, error)

	// ForksInstantly reports whether Fork takes only microseconds, whatever the size of the store and however often
	// it is called. Then a program can keep earlier versions of the rows as forks.
	ForksInstantly() bool
}

// A Snapshotter is a [Store] that can write a permanent copy of itself to a folder, as a backup. The store of package
// disk is one.
type Snapshotter interface {
	Store

	// Snapshot copies the store, as it is now, to a folder that must not exist.
	// It stops early when ctx ends.
	Snapshot(ctx context.Context, dir string) error
}
