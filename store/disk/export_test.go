package disk

import (
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// On returns the options for a store in a file system other than the machine's.
func (o Options) On(fs vfs.FS) Options {
	o.fs = fs
	return o
}

// Timeout returns the options for a store that waits for the time d for space or descriptors while it is opened or
// closed.
func (o Options) Timeout(d time.Duration) Options {
	o.timeout = d
	return o
}

// Files returns the file system of the store.
func (o Options) Files() vfs.FS { return o.fs }
