package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Format is the version of what a folder holds: the row addresses, and the
// format of Pebble's files. A change that an older version would misread
// raises it.
const Format = 1

// The file SORTKEY tells our folders from others and says what is in them:
//
//	sortkey store
//	format 1
//	state ready
//
// It is written first, with the state new, and again once Pebble has made its
// files and Open is about to return, so that a folder that lost them is not
// taken for an empty store. It is replaced by rename, so it is whole or not
// there.
const (
	metaName = "SORTKEY"
	metaTemp = "SORTKEY.tmp"
	maxMeta  = 1 << 10 // bytes
	metaHead = "sortkey store"
	lockName = "LOCK"

	stateNew   = "new"
	stateReady = "ready"
)

// readMeta returns the state of the folder: ready, new, or "" for one with
// nothing in it. The error says why the folder cannot be opened.
func readMeta(fsys vfs.FS, dir string) (state string, err error) {
	f, err := fsys.Open(fsys.PathJoin(dir, metaName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", checkEmpty(fsys, dir)
	}
	if err != nil {
		return "", fmt.Errorf("disk: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxMeta))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("disk: reading %s of %s: %w", metaName, dir, err)
	}
	var format int
	head, rest, _ := strings.Cut(string(text), "\n")
	if n, _ := fmt.Sscanf(rest, "format %d\n", &format); head != metaHead || n != 1 || format < 1 {
		return "", fmt.Errorf("disk: the file %s in %s is not one of Sortkey's", metaName, dir)
	}
	if format > Format {
		return "", &FormatError{Dir: dir, Found: format, Supported: Format}
	}
	if _, err := fmt.Sscanf(rest, "format %d\nstate %s\n", &format, &state); err != nil || state != stateNew && state != stateReady {
		return "", fmt.Errorf("disk: the file %s in %s is damaged", metaName, dir)
	}
	return state, nil
}

func checkEmpty(fsys vfs.FS, dir string) error {
	names, err := fsys.List(dir)
	if err != nil {
		return fmt.Errorf("disk: %w", err)
	}
	for _, name := range names {
		switch name {
		case metaTemp, lockName, "lost+found":
		default:
			return fmt.Errorf("disk: %s holds files such as %s but no %s: it is no store of Sortkey, or an unfinished copy of one",
				dir, name, metaName)
		}
	}
	return nil
}

// removeUnfinished removes the engine's files from a folder in the state new:
// a crash while they were made may have left some and not others, and no Open
// has returned that could have put a row in them.
func removeUnfinished(fsys vfs.FS, dir string) error {
	names, err := fsys.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if matches(name, engineFiles) || matches(name, engineTemps) {
			if err := fsys.Remove(fsys.PathJoin(dir, name)); err != nil {
				return err
			}
		}
	}
	return syncDir(fsys, dir)
}

// The names of Pebble's files, and of those it is still writing.
var (
	engineFiles = []string{"MANIFEST-*", "OPTIONS-*", "CURRENT", "marker.*", "*.log", "*.sst", "*.blob"}
	engineTemps = []string{"CURRENT.*", "temporary.*", "*.dbtmp"}
)

func matches(name string, patterns []string) bool {
	for _, pattern := range patterns {
		if ok, _ := path.Match(pattern, name); ok {
			return true
		}
	}
	return false
}

// resolve returns the one name of a folder that is there. Under another one,
// this process could open it twice.
func resolve(fsys vfs.FS, dir string) (string, error) {
	if fsys == vfs.Default {
		abs, err := filepath.Abs(dir)
		if err == nil {
			abs, err = filepath.EvalSymlinks(abs)
		}
		if err != nil {
			return "", fmt.Errorf("disk: %w", err)
		}
		dir = abs
	}
	return fsys.PathDir(fsys.PathJoin(dir, metaName)), nil // as the paths of its files have it
}

// Exists reports whether a folder holds a store, of whatever format and in
// whatever state. Of opts, FS is used.
func Exists(dir string, opts Options) bool {
	fsys := opts.withDefaults().FS
	_, err := fsys.Stat(fsys.PathJoin(dir, metaName))
	return err == nil
}

// Lock takes the lock of a store's folder without opening it, so that nobody
// else does until it is closed. The error is [ErrLocked] when somebody has it.
// Of opts, FS is used.
func Lock(dir string, opts Options) (io.Closer, error) {
	fsys := opts.withDefaults().FS
	dir, err := resolve(fsys, dir)
	if err != nil {
		return nil, err
	}
	lock, err := pebble.LockDirectory(dir, fsys)
	if err != nil {
		return nil, fmt.Errorf("%w: %s is open in another process, or elsewhere in this one (%w)", ErrLocked, dir, err)
	}
	return lock, nil
}

func writeMeta(fsys vfs.FS, dir, state string) error {
	return replaceMeta(fsys, dir, fmt.Sprintf("%s\nformat %d\nstate %s\n", metaHead, Format, state))
}

func replaceMeta(fsys vfs.FS, dir, text string) error {
	temp := fsys.PathJoin(dir, metaTemp)
	f, err := fsys.Create(temp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := fsys.Rename(temp, fsys.PathJoin(dir, metaName)); err != nil {
		return err
	}
	return syncDir(fsys, dir)
}

func syncDir(fsys vfs.FS, dir string) error {
	d, err := fsys.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// makeDir makes a folder and those above it, durably.
func makeDir(fsys vfs.FS, dir string) error {
	var above []string
	for at := dir; ; {
		if _, err := fsys.Stat(at); err == nil || !errors.Is(err, fs.ErrNotExist) {
			break
		}
		next := fsys.PathDir(at)
		if next == at {
			break
		}
		above = append(above, next)
		at = next
	}
	if err := fsys.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, parent := range above {
		if err := syncDir(fsys, parent); err != nil {
			return err
		}
	}
	return nil
}
