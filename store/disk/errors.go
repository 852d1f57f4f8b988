package disk

import (
	"errors"
	"fmt"

	"github.com/sortkey/sortkey/store"
)

var (
	// ErrLocked is returned by [Open] for a folder that another process, or
	// another Store of this one, has open.
	ErrLocked = errors.New("disk: the folder is in use")

	// ErrReadOnly is returned by Update of a store opened with
	// [Options.ReadOnly]. It is [store.ErrReadOnly].
	ErrReadOnly = fmt.Errorf("disk: %w", store.ErrReadOnly)

	// ErrTooLarge is returned for a row or an update that is too large.
	ErrTooLarge = errors.New("disk: too large")
)

// A FailedError says that the disk refused a write, or the engine gave up, and
// that the store has stopped. An Update that returns it may be there or not
// when the folder is opened again; one that returned nil before is there.
type FailedError struct {
	Op  string // what was being done
	Err error  // what went wrong first
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("disk: store stopped after a failure: %s: %v", e.Op, e.Err)
}

// Unwrap returns e.Err.
func (e *FailedError) Unwrap() error { return e.Err }

// A FormatError says that a folder was written in a newer format than this
// program reads.
type FormatError struct {
	Dir       string
	Found     int // the folder's format
	Supported int // the newest format this program reads
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("disk: %s is in format %d, and this version of Sortkey reads formats up to %d: "+
		"open it with a newer version of Sortkey, or export it there and import it here", e.Dir, e.Found, e.Supported)
}

// fail puts s in the failed state. The first cause is kept.
func (s *Store) fail(op string, err error) {
	if s.failure.CompareAndSwap(nil, &FailedError{Op: op, Err: err}) {
		s.opts.Logger.Error("store stopped", "dir", s.dir, "op", op, "err", err)
	}
}

// failed returns the reason of the failed state, or nil.
func (s *Store) failed() error {
	if f := s.failure.Load(); f != nil {
		return f
	}
	return nil
}

// protect calls into Pebble where it is known to panic when it cannot go on.
// It may then hold locks for ever, so it is never called again, not even to be
// closed.
func (s *Store) protect(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.poisoned.Store(true)
			s.fail("engine", fmt.Errorf("panic: %v", p))
			err = s.failed()
		}
	}()
	if err := fn(); err != nil {
		s.fail("engine", err)
	}
	return s.failed()
}
