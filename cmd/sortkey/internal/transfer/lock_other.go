//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package transfer

import (
	"errors"
	"io/fs"
	"os"
)

// noFollow is 0: only openOwn's own check refuses links here.
const noFollow = 0

// openLocked opens or creates a file and locks it until it is closed. The error
// is [errBusy] if another process has locked it: here an open file cannot be
// removed.
func openLocked(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errBusy
	}
	f, err := openOwn(path, os.O_CREATE|os.O_EXCL|os.O_RDWR)
	if errors.Is(err, fs.ErrExist) {
		return nil, errBusy
	}
	return f, err
}

// locksMove reports whether a locked file can be renamed and replaced.
const locksMove = false

func lockFile(*os.File) error { return nil }

func unlockFile(*os.File) {}

// unlockBefore calls do on the folder of a locked file. It closes the file
// first: an open file cannot be moved.
func unlockBefore(f *os.File, do func() error) error {
	return errors.Join(unlock(f), do())
}
