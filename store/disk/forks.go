package disk

import (
	"crypto/rand"
	"errors"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// forksName is the folder, inside a store's folder, for its forks, unfinished copies and the files of unfinished
// Loads. They share the store's file system, so files can be linked. Removing the store removes them too.
const forksName = "forks"

// A forkDir is the folder for the forks of a store, and for forks of its forks. The folder exists only while it has
// users.
type forkDir struct {
	fs   vfs.FS
	path string

	mu    sync.Mutex
	users int
}

// add counts a new user and returns the path of a new folder for it.
func (d *forkDir) add() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.users++
	return d.fs.PathJoin(d.path, strings.ToLower(rand.Text()))
}

// remove removes the folder of a user, unless it has been moved. When the last user is gone, it also removes the
// folder of all forks. If it fails, the next Open removes the rest.
func (d *forkDir) remove(dir string) error {
	err := d.fs.RemoveAll(dir)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users--; d.users == 0 {
		d.removeIfEmpty()
	}
	return err
}

// clear removes folders that a crash left. It keeps forks that are still open, because a fork may outlive its origin.
func (d *forkDir) clear() {
	names, err := d.fs.List(d.path)
	if err != nil {
		return // the folder does not exist
	}
	for _, name := range names {
		dir := d.fs.PathJoin(d.path, name)
		lock, err := pebble.LockDirectory(dir, d.fs)
		if err != nil {
			continue
		}
		_ = errors.Join(lock.Close(), d.fs.RemoveAll(dir))
	}
	d.removeIfEmpty()
}

func (d *forkDir) removeIfEmpty() {
	if names, err := d.fs.List(d.path); err == nil && len(names) == 0 {
		_ = d.fs.Remove(d.path)
	}
}
