package disk

import (
	"crypto/rand"
	"errors"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// forksName is the folder in a store's own that its forks live in, and copies
// begin in. There they are on the same file system, so files can be linked, and
// go with the data.
const forksName = "forks"

// A forkDir is the folder of a store's forks, and theirs. It is there while it
// is used.
type forkDir struct {
	fs   vfs.FS
	path string

	mu    sync.Mutex
	users int
}

// enter names a new folder in it and counts it in.
func (d *forkDir) enter() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.users++
	return d.fs.PathJoin(d.path, strings.ToLower(rand.Text()))
}

// leave removes a folder, unless it has been moved, and after the last one
// that of all. What cannot be removed goes with the next Open.
func (d *forkDir) leave(dir string) error {
	err := d.fs.RemoveAll(dir)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users--; d.users == 0 {
		d.removeIfEmpty()
	}
	return err
}

// clear removes what a crash has left. Forks that are still open stay: one may
// outlive its origin.
func (d *forkDir) clear() {
	names, err := d.fs.List(d.path)
	if err != nil {
		return // there are none
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
