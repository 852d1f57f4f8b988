package transfer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// A partialFolder is what an export is made in. It belongs to one process,
// which has its file startedFile locked: the lock ends with the process,
// however that ends, and what it leaves can be told from what is being written.
type partialFolder struct {
	path string
	lock *os.File
}

// errBusy says that another process has the lock of a file.
var errBusy = errors.New("the file is locked")

// openPartial makes the folder path, or takes it over from an export that was
// killed.
func openPartial(path string) (*partialFolder, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	for {
		p, err := lockPartial(path)
		switch {
		case errors.Is(err, errBusy):
			return nil, fail("wait for it, or name another folder", "another export is writing to %s", path)
		case errors.Is(err, errMoved): // it was another's until now
			continue
		case err != nil:
			return nil, err
		}
		if err := p.empty(); err != nil {
			return nil, errors.Join(err, p.lock.Close())
		}
		return p, nil
	}
}

// errMoved says that what was locked lies at its path no more.
var errMoved = errors.New("what was locked was moved")

// liesAt returns errMoved unless an open file is the one at path.
func liesAt(f *os.File, path string) error {
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
	started := filepath.Join(path, startedFile)
	if err := os.Mkdir(path, 0o755); err != nil {
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		entries, err := os.ReadDir(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, errMoved
		case err != nil || len(entries) > 0 && !isFile(started):
			return nil, fail("remove it, or name another folder", "%s is in the way, and no export that was not finished", path)
		}
	}
	f, err := openLocked(started)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errMoved
	}
	if err != nil {
		return nil, err
	}
	if err := liesAt(f, started); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &partialFolder{path: path, lock: f}, nil
}

// empty removes what an export left that was killed.
func (p *partialFolder) empty() error {
	entries, err := os.ReadDir(p.path)
	for _, e := range entries {
		if e.Name() != startedFile && err == nil {
			err = os.RemoveAll(filepath.Join(p.path, e.Name()))
		}
	}
	return err
}

// remove removes the folder. The lock goes last, so that nobody takes over what
// is being removed.
func (p *partialFolder) remove() error {
	err := p.empty()
	return errors.Join(err, unlockBefore(p.lock, func() error { return os.RemoveAll(p.path) }))
}

// rename gives the folder its name, which no folder has that is not empty. The
// file startedFile stays in it if it is that of an export.
func (p *partialFolder) rename(to string, keep bool) error {
	return unlockBefore(p.lock, func() error {
		if err := checkNew(to); err != nil {
			return err
		}
		if !keep {
			if err := os.Remove(filepath.Join(p.path, startedFile)); err != nil {
				return err
			}
		}
		if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return os.Rename(p.path, to)
	})
}

// unlock closes a file unless that has been done.
func unlock(f *os.File) error {
	if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return nil
}

// checkNew refuses a folder that is there and not empty.
func checkNew(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case isFile(dir):
		return fail("name a new folder", "%s is a file", dir)
	case err != nil:
		return err
	case len(entries) > 0:
		return fail("name a new folder", "%s is there already and not empty", dir)
	}
	return nil
}
