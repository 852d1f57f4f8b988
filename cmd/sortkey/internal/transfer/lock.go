package transfer

import (
	"errors"
	"io/fs"
	"os"
)

// errBusy means that another process has locked the file.
var errBusy = errors.New("the file is locked")

// errMoved means that a locked file is no longer at its path.
var errMoved = errors.New("the locked file was moved")

// checkPath returns errMoved unless an open file is the one at path.
func checkPath(f *os.File, path string) error {
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Lstat(path); err != nil || !os.SameFile(mine, there) {
		return errMoved
	}
	return nil
}

// unlock unlocks a file and closes it, unless it is closed already. Closing alone is not enough: a
// process that this one is starting has a copy of every descriptor until it runs its own program, and
// a copy keeps the lock (flock(2)), so that the next export or import could find the file in use.
func unlock(f *os.File) error {
	unlockFile(f)
	if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return nil
}
