package transfer

import (
	"errors"
	"io/fs"
	"os"
)

// errBusy means that another process has locked the file.
var errBusy = errors.New("the file is locked")

// errMoved means that another process moved or removed the file after this process opened it and before it locked it.
var errMoved = errors.New("the locked file was moved")

// checkPath returns errMoved unless path still names the open file.
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

// unlock unlocks a file and closes it. It does nothing if the file is already closed. Closing alone is not enough.
// When this process starts a child process, the child for a short time has a copy of each descriptor, and the copy
// keeps the lock (flock(2)). The next export or import could therefore find the file locked.
func unlock(f *os.File) error {
	unlockFile(f)
	if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return nil
}
