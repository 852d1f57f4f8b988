package transfer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sortkey/sortkey/internal/api/s3files"
	"github.com/sortkey/sortkey/internal/design/advice"
)

// A partialFolder is the folder of an unfinished export. The process that writes
// it holds a lock on its [s3files.StartedFile]. The lock ends with the process, which
// distinguishes an abandoned folder from one that is in use.
type partialFolder struct {
	path string
	lock *os.File
}

// errBusy means that another process has locked the file.
var errBusy = errors.New("the file is locked")

// openPartial creates the folder path, or takes it over from an export that was
// killed.
func openPartial(path string) (*partialFolder, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	for {
		p, err := lockPartial(path)
		switch {
		case errors.Is(err, errBusy):
			return nil, advice.New("wait for it, or name another folder", "another export is writing to %s", path)
		case errors.Is(err, errMoved): // another export has just ended
			continue
		case err != nil:
			return nil, err
		}
		if err := p.empty(); err != nil {
			return nil, errors.Join(err, unlock(p.lock))
		}
		return p, nil
	}
}

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

func lockPartial(path string) (*partialFolder, error) {
	started := filepath.Join(path, s3files.StartedFile)
	if err := os.Mkdir(path, 0o700); err != nil {
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		info, err := os.Lstat(path)
		if err == nil && !info.IsDir() {
			return nil, advice.New("remove it, or name another folder", "%s is not a folder", path)
		}
		entries, err := os.ReadDir(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, errMoved
		case err != nil || len(entries) > 0 && !isFile(started):
			return nil, advice.New(
				"remove it, or name another folder", "%s already exists and is not an unfinished export", path,
			)
		}
	}

	f, err := openLocked(started)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errMoved
	}
	if err != nil {
		return nil, err
	}

	err = checkPath(f, started)
	if err == nil {
		err = os.Chmod(path, 0o700) // an earlier version made it
	}
	if err != nil {
		return nil, errors.Join(err, unlock(f))
	}
	return &partialFolder{path: path, lock: f}, nil
}

// empty removes all files but [s3files.StartedFile].
func (p *partialFolder) empty() error {
	entries, err := os.ReadDir(p.path)
	for _, e := range entries {
		if e.Name() != s3files.StartedFile && err == nil {
			err = os.RemoveAll(filepath.Join(p.path, e.Name()))
		}
	}
	return err
}

// remove removes the folder. It unlocks the folder last, so that no other export
// takes it over while it is being removed.
func (p *partialFolder) remove() error {
	err := p.empty()
	return errors.Join(err, unlockBefore(p.lock, func() error { return os.RemoveAll(p.path) }))
}

// rename moves the folder to its final path, where there may be only an empty
// folder. With keep its [s3files.StartedFile] stays, as the service's exports have it.
func (p *partialFolder) rename(to string, keep bool) error {
	return unlockBefore(p.lock, func() error {
		if err := checkNew(to); err != nil {
			return err
		}
		if !keep {
			if err := os.Remove(filepath.Join(p.path, s3files.StartedFile)); err != nil {
				return err
			}
		}
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return os.Rename(p.path, to)
	})
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

// checkNew returns an error if a folder exists and is not empty.
func checkNew(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case isFile(dir):
		return advice.New("name a new folder", "%s is a file", dir)
	case err != nil:
		return err
	case len(entries) > 0:
		return advice.New("name a new folder", "%s already exists and is not empty", dir)
	}
	return nil
}
