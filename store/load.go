package store

import "iter"

// A Loading collects the changes of a Load of package store/disk, which puts many sorted rows faster than an Update.
// Its reads see the state before them. It is valid until the function that received it returns, and safe for concurrent
// use.
type Loading interface {
	Reader

	// Add adds a run of changes: addresses of rows in ascending order, each with the
	// value of its row, or with nil to delete the row. Another run of the same Load must not
	// have an address between the first and the last of this one. Add copies addresses and
	// values before the next iteration.
	Add(changes iter.Seq2[[]byte, []byte]) error
}
