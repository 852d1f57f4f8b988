//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package transfer

import (
	"errors"
	"os"
	"syscall"
)

// noFollow is the flag with which opening a symbolic link fails.
const noFollow = syscall.O_NOFOLLOW

// lockFile locks a file until it is closed. It does nothing if the file system has no locks.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return errBusy
	case errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.ENOLCK):
		return nil
	default:
		return err
	}
}

// unlockFile unlocks an open file. If it fails, closing the file unlocks it.
func unlockFile(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// unlockBefore calls do, which moves or removes a locked file, and then unlocks and closes the file. Unix can move an
// open file, so no other process can lock the file before do has moved it.
func unlockBefore(f *os.File, do func() error) error {
	return errors.Join(do(), unlock(f))
}
