package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sortkey/sortkey/store"
)

var (
	// ErrLocked is returned by [Open] for a folder that another Store has open, in this process or another. Stores
	// that are all open for reading only can share a folder.
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

// A FailedError says that the store has stopped because the disk refused a write or the engine gave up. Look for it
// with errors.As to end the program: only opening the folder again helps. After that, the changes of an Update that
// returned this error may be present or not; those of an Update that returned nil are present.
type FailedError struct {
	Op  string // what the store was doing
	Err error  // the first failure
}

// Error returns the operation and the first failure.
func (e *FailedError) Error() string {
	return fmt.Sprintf("disk: store stopped after a failure: %s: %v", e.Op, e.Err)
}

// Unwrap returns the first failure.
func (e *FailedError) Unwrap() error { return e.Err }

// otherFormat returns the error for a folder that another version of Sortkey wrote, in a format that
// this program cannot read.
func otherFormat(dir string, found int) error {
	if found < Format {
		return fmt.Errorf("disk: %s has format %d, but this version of Sortkey reads format %d: "+
			"export the data with the version that wrote it, by sortkey export --all --data %s --to DIR, "+
			"and import DIR here",
			dir, found, Format, dir)
	}
	return fmt.Errorf("disk: %s has format %d, but this version of Sortkey reads formats up to %d: "+
		"use a newer version of Sortkey, or export the data with it and import them here", dir, found, Format)
}

// damaged returns the error for a folder with files that are missing or do not match. Its text says what that means
// for the user, and then what the engine reports. damaged returns other errors unchanged.
func damaged(err error) error {
	missing := errors.Is(err, fs.ErrNotExist) ||
		errors.Is(err, pebble.ErrDBDoesNotExist) || errors.Is(err, pebble.ErrDBNotPristine)
	what := "a file is cut off or has other bytes"
	switch _, system := errors.AsType[syscall.Errno](err); {
	case missing:
		what = "a file is missing"
	case pebble.IsCorruptionError(err), !system && unmarked.MatchString(err.Error()):
	default:
		return err
	}

	words, _, _ := strings.Cut(err.Error(), "\n") // stacks and marks follow
	return &damagedError{
		err: err,
		text: fmt.Sprintf(
			"the folder is damaged: %s. Restore a snapshot, or copy the whole folder again; the engine says: %s",
			what, words,
		),
	}
}

// unmarked matches the texts of errors about damaged files that the engine does not mark as corruption.
var unmarked = regexp.MustCompile("invalid key=value syntax|size mismatch")

// A damagedError is an error of the engine about damaged files, with text for the user.
type damagedError struct {
	err  error
	text string
}

func (e *damagedError) Error() string { return e.text }

func (e *damagedError) Unwrap() error { return e.err }

// fail puts s in the failed state. It keeps only the first failure. It logs the failure, and at debug level also the
// stack that the engine's errors contain. It does not log a failure of Open as an error, because Open returns it.
func (s *Store) fail(op string, err error) {
	stack := err
	err = damaged(err)
	if !s.failure.CompareAndSwap(nil, &FailedError{Op: op, Err: err}) {
		return
	}
	if s.opened.Load() {
		s.opts.Logger.Error("store stopped", "dir", s.dir, "op", op, "err", err.Error())
	}
	s.opts.Logger.Debug("store stopped", "dir", s.dir, "op", op, "err", fmt.Sprintf("%+v", stack))
}

// failed returns the failure that stopped the store, or nil.
func (s *Store) failed() error {
	if f := s.failure.Load(); f != nil {
		return f
	}
	return nil
}

// protect calls a function of Pebble that can panic on failures. After a panic, Pebble may hold locks for ever, so
// the store never calls it again, not even to close it.
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
