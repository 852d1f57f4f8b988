package disk

import "github.com/cockroachdb/pebble/v2/vfs"

// On returns the options for a store in a file system other than the machine's.
func (o Options) On(fs vfs.FS) Options {
	o.fs = fs
	return o
}

// Files returns the file system of the store.
func (o Options) Files() vfs.FS { return o.fs }
