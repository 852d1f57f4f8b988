package store

import (
	"context"
	"errors"
	"iter"
)

// ErrClosed is the error of a [Store] after its Close, and of a [Reader] or [Writer] that is used after the function
// that received it has returned. Engines return it; test for it with errors.Is.
var ErrClosed = errors.New("store: closed")

// ErrReadOnly is the error of Update for a [Store] that is open for reading only, as an option of package disk
// allows.
var ErrReadOnly = errors.New("store: open for reading only")

// ErrUnavailable is the error of View and Update when the rows of the [Store] are in a database that it cannot reach,
// or that is too busy. Test for it with errors.Is to try again: the same call may succeed later.
var ErrUnavailable = errors.New("store: not available")

// A Space is one ordered set of partitions: a table or an index. Choose a number for each; no query or scan reads
// rows of two spaces. Package sortkey keeps its catalogue in Space 0.
type Space uint64

// A Row is one stored row, as [Reader].Query and [Reader].Scan yield it.
type Row struct {
	Partition []byte // set by Scan; Query may leave it nil
	Sort      []byte
	Value     []byte
}

// A Position is a place in scan order, (Hash(Partition), Partition, Sort), whether or not a row exists there. To
// continue a scan, put the Position of the last row into [Span].After.
type Position struct {
	Partition []byte `json:"partition"`
	Sort      []byte `json:"sort"`
}

// A Reader reads one state of a store. It is valid until the function that
// received it returns; later calls fail with [ErrClosed]. The Reader of a View
// is safe for concurrent use; the Writer of an Update is not.
//
// Ownership:
//
//   - The caller may reuse arguments once a call returns, and those of Query
//     and Scan once the loop over them ends.
//   - Nobody may change returned bytes. They are valid until the next iteration
//     of the loop or, for Get, until the function ends, unless the engine
//     promises more.
//
// Iterators yield an error last, with a zero row. Each loop sees the rows as
// they were when it began: it does not see rows put or deleted while it runs.
// Reads check the context at least every 1,024 rows.
type Reader interface {
	// Get returns the value of a row, and whether the row exists. The value
	// of an existing row may be empty.
	Get(space Space, partition, sort []byte) (value []byte, ok bool, err error)

	// Query yields the rows of one partition whose sort positions are in r, in
	// ascending order of sort, or descending if reverse. It reads no row
	// outside r.
	Query(space Space, partition []byte, r Range, reverse bool) iter.Seq2[Row, error]

	// Scan yields the rows of s in ascending order of (hash, partition, sort).
	Scan(space Space, s Span) iter.Seq2[Row, error]
}

// A Writer reads and changes the state that an Update will publish. Its reads
// see its own writes. It is not safe for concurrent use.
type Writer interface {
	Reader

	// Put creates or replaces a row. It copies partition and sort. It keeps value without a copy, so nobody may
	// change value afterwards. Several rows may share a value.
	Put(space Space, partition, sort, value []byte) error

	// Delete removes a row. Deleting a row that does not exist succeeds.
	Delete(space Space, partition, sort []byte) error

	// Clear removes every row of a space. It takes at most time proportional to the number of rows.
	Clear(space Space) error
}

// A Store is a set of ordered rows, safe for concurrent use. sortkey.Open takes one for tables; a program without
// tables reads and writes rows by View and Update.
type Store interface {
	// View calls fn with a consistent snapshot and returns its error. A View
	// neither sees later updates nor blocks them.
	View(ctx context.Context, fn func(Reader) error) error

	// Update calls fn and, if fn returns nil, makes all of its changes visible
	// at once. If fn returns an error or panics, nothing changes; Update
	// returns the error or lets the panic propagate. Updates are serialisable.
	//
	// An engine that detects conflicts late may call fn again with a new
	// Writer. So fn must have no effects outside its Writer, except those that
	// a second call overwrites. Fn must not call Update of the same store.
	Update(ctx context.Context, fn func(Writer) error) error

	// Close releases the store. Later calls of View and Update return
	// [ErrClosed]; functions still running finish, or fail with ErrClosed.
	// Closing again does nothing.
	Close() error
}
