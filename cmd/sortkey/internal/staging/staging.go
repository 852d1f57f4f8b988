// Package staging creates files and folders that appear only when they are complete. A process writes them in a
// temporary folder beside their final path. It locks that folder while it runs. If a temporary folder is not locked,
// its process has been killed, so package staging removes the folder.
package staging

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/store/disk"
)

// contents are the names that files and folders in a Folder may have.
var contents = []string{"LOCK", "snapshot", "data", "export"}

const tempMark = ".tmp-"

// A Folder is a temporary folder beside a final path. It contains a file or folder called snapshot, data or export.
// The process can rename that to the final path, because both are on the same file system. A process locks the Folder
// while it uses it.
type Folder struct {
	Path string
	lock io.Closer // nil if the file system has no locks
}

// New creates a temporary folder beside the final path. Before that, it removes all temporary folders that killed
// processes have left in the same parent folder, whatever their final paths.
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
		_ = os.RemoveAll(path) // another process has locked it to remove it, as if a killed process had left it
	}
}

// Remove removes the folder and all that it contains.
func (t *Folder) Remove() {
	_ = os.RemoveAll(t.Path)
	if t.lock != nil {
		_ = t.lock.Close()
	}
	_ = os.RemoveAll(t.Path) // some systems cannot remove the lock file while it is open
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

// isLeft reports whether a folder looks like a temporary folder of this package, by its name and its contents.
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
