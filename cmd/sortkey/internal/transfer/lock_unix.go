//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package transfer

import (
	"errors"
	"os"
	"syscall"
)

// openLocked opens a file that is there or not, and locks it until it is closed.
// The error is [errBusy] when another has it locked.
func openLocked(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// lockFile locks a file until it is closed, where the file system can.
func lockFile(f *os.File) error {
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return errBusy
	case errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.ENOLCK):
		return nil
	default:
		return err
	}
}

// locksMove says that a file that is locked may be renamed and written over.
const locksMove = true

// unlockBefore does something to the folder that a locked file lies in, and
// closes the file.
func unlockBefore(f *os.File, do func() error) error {
	return errors.Join(do(), unlock(f)) // it may be moved while it is open
}
