package store

import "errors"

// A Forker is a [Store] that can be copied as it is at one moment.
type Forker interface {
	Store

	// Fork returns a new store with the same rows. Changes to either do not
	// show in the other, and each is closed on its own. Updates that have
	// returned are in the fork; one still running is in it whole or not at all.
	Fork() (Store, error)
}

// ErrReadOnly is returned by Update of a [Store] that is open for reading
// only.
var ErrReadOnly = errors.New("store: open for reading only")
