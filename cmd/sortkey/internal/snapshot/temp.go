package snapshot

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/store/disk"
)

// The contents of a temporary folder besides its lock.
const (
	snapshotName = "snapshot" // an unfinished snapshot
	dataName     = "data"     // an unfinished database, or the one that it has replaced
	oldName      = "data.old" // the one to be replaced, where two folders cannot be exchanged
)

const tempMark = ".tmp-"

// A tempFolder contains an unfinished snapshot or database beside its final path,
// so that it can be renamed. It is locked while it is in use, which distinguishes
// it from the folders that killed processes left behind.
type tempFolder struct {
	path string
	lock io.Closer // nil if the file system has no locks
}

// newTemp creates a temporary folder for the final path. It first removes those
// that killed processes left beside it, under this name or another.
func newTemp(final string) (*tempFolder, error) {
	parent, base := filepath.Split(filepath.Clean(final))
	parent = filepath.Clean(parent)
	removeLeft(parent)
	const tries = 10
	for try := 1; ; try++ {
		path, err := os.MkdirTemp(parent, "."+base+tempMark+"*")
		if err != nil {
			return nil, err
		}
		lock, err := disk.Lock(path, disk.Options{})
		if err == nil || try == tries {
			return &tempFolder{path, lock}, nil
		}
		_ = os.RemoveAll(path) // another process took it for one left behind
	}
}

func (t *tempFolder) remove() {
	_ = os.RemoveAll(t.path)
	if t.lock != nil {
		_ = t.lock.Close()
	}
	_ = os.RemoveAll(t.path) // some systems do not remove a file that is open
}

// removeLeft removes the temporary folders in parent that no process uses.
func removeLeft(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(parent, e.Name())
		if !e.IsDir() || !isLeft(path) {
			continue
		}
		if lock, err := disk.Lock(path, disk.Options{}); err == nil {
			(&tempFolder{path, lock}).remove()
		}
	}
}

// isLeft reports whether a folder is a temporary one, by its name and contents, and
// does not have the only copy of a database.
func isLeft(path string) bool {
	name := filepath.Base(path)
	mark := strings.LastIndex(name, tempMark)
	if mark < 1 || name[0] != '.' || strings.Trim(name[mark+len(tempMark):], "0123456789") != "" {
		return false
	}
	final := filepath.Join(filepath.Dir(path), name[1:mark])
	entries, err := os.ReadDir(path)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if !slices.Contains([]string{"LOCK", snapshotName, dataName, oldName}, e.Name()) {
			return false
		}
		if _, err := os.Lstat(final); e.Name() == oldName && errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}
