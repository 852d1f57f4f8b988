package transfer

import (
	"errors"
	"io/fs"
	"os"
)

// errBusy means that another process has locked the file.
var errBusy = errors.New("the file is locked")

// errMoved means that somebody moved or removed the file before this process could lock it.
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

// unlock unlocks a file and closes it. It does nothing if the file is closed already. Closing alone is not enough:
// while this process starts a child process, the child briefly has a copy of every descriptor. A copy keeps the lock
// (flock(2)), so the next export or import could find the file locked.
func unlock(f *os.File) error {
	unlockFile(f)
	if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return nil
}
