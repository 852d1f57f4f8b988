package disk

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A file takes up to fileSpace more bytes on the disk than it contains.
const fileSpace = 4 << 10

// Copy copies a store that is closed, or open for reading only, to a folder that does not exist or is empty. It does
// not change the original. Use [Store.Snapshot] for a store that is open for writing. Copy returns the errors of
// [Open] for from. After another error the folder may be incomplete: Open refuses it, and you can remove it. Copy
// ignores opts, except for the file system of tests.
func Copy(ctx context.Context, from, dir string, opts Options) error {
	opts.InMemory = false // or fsys would be empty
	fsys := opts.withDefaults().fs
	if _, err := fsys.Stat(fsys.PathJoin(from, lockName)); err == nil {
		from, err := resolve(fsys, from)
		if err != nil {
			return err
		}
		lock, err := lockDir(fsys, from, true)
		if err != nil {
			return err
		}
		defer lock.Close()
	}

	state, logs, err := readMeta(fsys, from)
	if err == nil && state != stateReady {
		err = fmt.Errorf("disk: %s does not contain a store", from)
	}
	if err != nil {
		return err
	}
	if names, err := fsys.List(dir); err == nil && len(names) > 0 {
		return fmt.Errorf("disk: %s is not empty", dir)
	}
	if err := makeDir(fsys, dir); err != nil {
		return fmt.Errorf("disk: %w", err)
	}

	_, need, err := storeFiles(fsys, from)
	if err == nil {
		if usage, err := fsys.GetDiskUsage(dir); err == nil && need > usage.AvailBytes {
			return fmt.Errorf("disk: not enough space for %s: need %d bytes, have %d", dir, need, usage.AvailBytes)
		}
		err = copyDir(ctx, fsys, from, dir, logs)
	}
	if err != nil {
		return fmt.Errorf("disk: cannot copy %s: %w", from, err)
	}
	return nil
}

// storeFiles returns the names of the files to copy from a closed store, and the disk space in bytes that a copy
// takes. It leaves out SORTKEY, locks, and what a crash left behind.
func storeFiles(fsys vfs.FS, dir string) (names []string, space uint64, err error) {
	if names, err = fsys.List(dir); err != nil {
		return nil, 0, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !matches(name, engineFiles) })
	slices.Sort(names)
	for _, name := range names {
		size, err := regularSize(fsys, fsys.PathJoin(dir, name))
		if err != nil {
			return nil, 0, err
		}
		space += uint64(size) + fileSpace //nolint:gosec // of a file
	}
	return names, space, nil
}

// regularSize returns the size of a regular file, and an error for links and other files.
func regularSize(fsys vfs.FS, path string) (int64, error) {
	var info fs.FileInfo
	var err error
	if vfs.Root(fsys) == vfs.Default {
		info, err = os.Lstat(path)
	} else {
		info, err = fsys.Stat(path)
	}
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s is not a regular file", path)
	}
	return info.Size(), nil
}
