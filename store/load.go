package store

import (
	"context"
	"iter"
)

// A Loader is a [Store] that takes many rows that are in order faster than an Update does.
type Loader interface {
	Store

	// Load calls fn once and, if fn returns nil, makes the changes that it has added visible
	// at once, as an Update does: Updates and Loads are serialisable together. If fn returns an
	// error or panics, nothing changes.
	Load(ctx context.Context, fn func(Loading) error) error
}

// A Loading collects the changes of a [Loader.Load]. Its reads see the state before them. It is
// valid until the function that received it returns, and safe for concurrent use.
type Loading interface {
	Reader

	// Add adds a run of changes: addresses ([AppendAddress]) in ascending order, each with the
	// value of its row, or with nil to delete the row. Another run of the same Load must not
	// have an address between the first and the last of this one. Add copies addresses and
	// values before the next iteration.
	Add(changes iter.Seq2[[]byte, []byte]) error
}
