package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

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
	text, err := io.ReadAll(io.LimitReader(f, 1<<10))
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
		for _, pattern := range []string{"MANIFEST-*", "OPTIONS-*", "CURRENT*", "marker.*", "temporary.*", "*.log", "*.sst", "*.blob", "*.dbtmp"} {
			if ok, _ := path.Match(pattern, name); ok {
				if err := fsys.Remove(fsys.PathJoin(dir, name)); err != nil {
					return err
				}
				break
			}
		}
	}
	return syncDir(fsys, dir)
}

func writeMeta(fsys vfs.FS, dir, state string) error {
	temp := fsys.PathJoin(dir, metaTemp)
	f, err := fsys.Create(temp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s\nformat %d\nstate %s\n", metaHead, Format, state)
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
