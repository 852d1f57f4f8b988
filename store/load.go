package store

import "iter"

// A Loading collects the changes of a Load of package store/disk, which puts many sorted rows faster than an Update
// does. Its reads do not see these changes. It is valid until the function that received it returns, and safe for
// concurrent use.
type Loading interface {
	Reader

	// Add adds a run of changes: addresses of rows in ascending order, each with the value of its row, or with nil to
	// delete the row. Runs of one Load must not overlap: no other run may have an address between the first and the
	// last of this one. Add copies each address and value before the next iteration.
	Add(changes iter.Seq2[[]byte, []byte]) error
}
