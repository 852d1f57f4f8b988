package disk

import (
	"errors"
	"fmt"

	"github.com/sortkey/sortkey/store"
)

var (
	// ErrLocked is returned by [Open] for a folder that another process, or
	// another Store of this process, has open.
	ErrLocked = errors.New("disk: the folder is in use")

	// ErrLoss is returned by [Open] for a folder with damaged or missing logs:
	// acknowledged updates in them cannot be read. [Options.AcceptLoss] opens it
	// without them.
	ErrLoss = errors.New("disk: acknowledged updates cannot be read")

	// ErrReadOnly is returned by Update of a store opened with
	// [Options.ReadOnly]. It is [store.ErrReadOnly].
	ErrReadOnly = fmt.Errorf("disk: %w", store.ErrReadOnly)

	// ErrTooLarge is returned for a row or an update that is too large.
	ErrTooLarge = errors.New("disk: too large")
)

// A FailedError says that the store has stopped because the disk refused a
// write or the engine gave up. When the folder is opened again, the changes of
// an Update that returned this error may be present or not; the changes of an Update
// that returned nil before are present.
type FailedError struct {
	Op  string // what the store was doing
	Err error  // the first failure
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("disk: store stopped after a failure: %s: %v", e.Op, e.Err)
}

// Unwrap returns e.Err.
func (e *FailedError) Unwrap() error { return e.Err }

// A FormatError says that another version of Sortkey wrote a folder, in a format
// that this program cannot read.
type FormatError struct {
	Dir       string
	Found     int // the folder's format
	Supported int // the format this program reads
}

func (e *FormatError) Error() string {
	if e.Found < e.Supported {
		return fmt.Sprintf("disk: %s has format %d, but this version of Sortkey reads format %d: "+
			"export the data with the version that wrote it, and import them here", e.Dir, e.Found, e.Supported)
	}
	return fmt.Sprintf("disk: %s has format %d, but this version of Sortkey reads formats up to %d: "+
		"use a newer version of Sortkey, or export the data with it and import them here", e.Dir, e.Found, e.Supported)
}

// fail puts s in the failed state. The first failure is kept. It is logged
// without the stack that the engine's errors have; that is for debugging. A
// failure of Open is its error and not logged.
func (s *Store) fail(op string, err error) {
	if !s.failure.CompareAndSwap(nil, &FailedError{Op: op, Err: err}) {
		return
	}
	if s.opened.Load() {
		s.opts.Logger.Error("store stopped", "dir", s.dir, "op", op, "err", err.Error())
	}
	s.opts.Logger.Debug("store stopped", "dir", s.dir, "op", op, "err", fmt.Sprintf("%+v", err))
}

// failed returns the failure that stopped the store, or nil.
func (s *Store) failed() error {
	if f := s.failure.Load(); f != nil {
		return f
	}
	return nil
}

// protect calls a function of Pebble that is known to panic on failures. After
// a panic, Pebble may hold locks for ever, so it is never called again, not
// even to close it.
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
