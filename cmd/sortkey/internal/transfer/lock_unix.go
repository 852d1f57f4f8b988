//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package transfer

import (
	"errors"
	"os"
	"syscall"
)

// noFollow is the flag that makes opening a link fail.
const noFollow = syscall.O_NOFOLLOW

// openLocked opens or creates a file and locks it until it is closed. The error
// is [errBusy] if another process has locked it.
func openLocked(path string) (*os.File, error) {
	f, err := openOwn(path, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// lockFile locks a file until it is closed, if the file system supports it.
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

// locksMove reports whether a locked file can be renamed and replaced.
const locksMove = true

// unlockBefore calls do on the folder of a locked file, and then unlocks the
// file, which can be moved while it is open.
func unlockBefore(f *os.File, do func() error) error {
	return errors.Join(do(), unlock(f))
}
