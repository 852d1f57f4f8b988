package store

import (
	"context"
	"errors"
	"iter"
)

// ErrClosed is returned by a [Store] after its Close, and by a [Reader] or
// [Writer] used after the function it was given to has returned.
var ErrClosed = errors.New("store: closed")

// ErrReadOnly is returned by Update of a [Store] that is open for reading
// only.
var ErrReadOnly = errors.New("store: open for reading only")

// A Space is one ordered set of partitions: a table or an index. Space 0 is
// the catalogue.
type Space uint64

// A Row is one stored row.
type Row struct {
	Partition []byte // set by Scan; Query may leave it nil
	Sort      []byte
	Value     []byte
}

// A Position is a place in scan order, (Hash(Partition), Partition, Sort). No
// row needs to be there.
type Position struct {
	Partition, Sort []byte
}

// A Reader reads one state of a store. It is valid until the function it was
// given to returns; later calls fail with [ErrClosed]. The Reader of a View is
// safe for concurrent use, that of an Update (a [Writer]) is not.
//
// Arguments may be reused once a call returns, those of Query and Scan once
// the loop over them ends. Bytes handed out must not be changed; they are
// valid until the next iteration of the loop or, for Get, until the function
// ends, unless the engine promises more.
//
// Iterators yield an error last, with a zero row. Each loop sees the rows as
// they were when that loop began: rows put or deleted while it runs do not
// show in it. Reads look at the context at least every [ContextRows] rows.
type Reader interface {
	// Get returns the value of a row, and whether the row exists. The value
	// of an existing row may be empty.
	Get(space Space, partition, sort []byte) (value []byte, ok bool, err error)

	// Query walks the rows of one partition whose sort positions lie in r,
	// in ascending order of sort, or descending if reverse. It touches no row
	// outside r.
	Query(space Space, partition []byte, r Range, reverse bool) iter.Seq2[Row, error]

	// Scan walks the rows of s in ascending order of (hash, partition, sort).
	Scan(space Space, s Span) iter.Seq2[Row, error]
}

// A Writer reads and changes the state an Update will publish. Reads see its
// own writes. It is not safe for concurrent use.
type Writer interface {
	Reader

	// Put creates or replaces a row. Partition and sort are copied; value is
	// taken over, and neither the caller nor anyone else may change it
	// afterwards. Several rows may be given the same value.
	Put(space Space, partition, sort, value []byte) error

	// Delete removes a row. Deleting a row that does not exist is no error.
	Delete(space Space, partition, sort []byte) error

	// Clear removes every row of a space. It takes time in proportion to
	// their number at most.
	Clear(space Space) error
}

// A Store is a set of ordered rows, safe for concurrent use.
type Store interface {
	// View calls fn with a consistent snapshot and returns its error. A View
	// does not see later updates and does not keep them waiting.
	View(ctx context.Context, fn func(Reader) error) error

	// Update calls fn and, if it returns nil, makes all of its changes
	// visible at once. If fn returns an error or panics nothing changes, and
	// the error is returned or the panic goes on. Updates are serialisable.
	//
	// An engine that detects conflicts late may call fn again with a new
	// Writer, so fn must have no effect outside its Writer that a second call
	// would not overwrite. Fn must not call Update of the same store.
	Update(ctx context.Context, fn func(Writer) error) error

	// Close releases the store. Later calls of View and Update return
	// [ErrClosed]; functions still running finish, or fail with ErrClosed.
	// Closing again does nothing.
	Close() error
}

// ContextRows is the number of rows an iterator may yield between two looks at
// its context.
const ContextRows = 1024
