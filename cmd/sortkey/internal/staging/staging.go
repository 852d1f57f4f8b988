// Package staging makes folders and files appear whole. What is unfinished lies in a folder beside its final path,
// which is locked while a process uses it; the folders of killed processes are removed by the next.
package staging

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/store/disk"
)

// contents are the names of what a Folder may have besides its lock.
var contents = []string{"LOCK", "snapshot", "data", "export"}

const tempMark = ".tmp-"

// A Folder contains what is unfinished, under one of the names snapshot, data and export, beside its final path,
// so that it can be renamed. It is locked while it is in use.
type Folder struct {
	Path string
	lock io.Closer // nil if the file system has no locks
}

// New creates a folder for the final path. It first removes those
// that killed processes left beside it, under this name or another.
func New(final string) (*Folder, error) {
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
			return &Folder{path, lock}, nil
		}
		_ = os.RemoveAll(path) // another process took it for one left behind
	}
}

// Remove removes the folder with what is in it.
func (t *Folder) Remove() {
	_ = os.RemoveAll(t.Path)
	if t.lock != nil {
		_ = t.lock.Close()
	}
	_ = os.RemoveAll(t.Path) // some systems do not remove a file that is open
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
			(&Folder{path, lock}).Remove()
		}
	}
}

// isLeft reports whether a folder is a temporary one, by its name and contents.
func isLeft(path string) bool {
	name := filepath.Base(path)
	mark := strings.LastIndex(name, tempMark)
	if mark < 1 || name[0] != '.' || strings.Trim(name[mark+len(tempMark):], "0123456789") != "" {
		return false
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if !slices.Contains(contents, e.Name()) {
			return false
		}
	}
	return true
}
