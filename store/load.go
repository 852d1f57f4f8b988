package store

import "iter"

// A Loading collects the changes of a Load of package store/disk, which puts many sorted rows faster than an Update
// does. Reads of a Loading do not see its changes. It is valid until the function that received it returns, and safe
// for concurrent use.
type Loading interface {
	Reader

	// Add adds a run of changes: the addresses of rows in ascending order, each with the value of its row, or with
	// nil to delete the row. The address ranges of the runs of one Load must not overlap: between the first and the
	// last address of a run, no other run may have an address. Add copies each address and value before the next
	// iteration.
	Add(changes iter.Seq2[[]byte, []byte]) error
}
