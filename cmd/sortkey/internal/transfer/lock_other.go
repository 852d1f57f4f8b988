//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package transfer

import (
	"errors"
	"io/fs"
	"os"
)

// openLocked opens a file that is there or not, and locks it until it is closed.
// The error is [errBusy] when another has it locked: one who has it open keeps
// it from being removed.
func openLocked(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errBusy
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, errBusy
	}
	return f, err
}

// locksMove says that a file that is locked may be renamed and written over.
const locksMove = false

func lockFile(*os.File) error { return nil }

// unlockBefore does something to the folder that a locked file lies in, and
// closes the file first, as it could not be moved otherwise.
func unlockBefore(f *os.File, do func() error) error {
	return errors.Join(unlock(f), do())
}
