package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Format is the version of the folder format, for messages. It covers the row addresses, the form of items, and the
// format of Pebble's files, and grows with every change that an older version would misread. Formats 1, with another
// order of equal index keys, and 2, with a longer form of items, were never released and are refused.
const Format = 3

// The file SORTKEY identifies the folder of a store and states its format:
//
//	sortkey store
//	format 3
//	state ready
//	log 000004.log
//
// Open first writes the file with the state new. When Pebble has created its files and Open is about to return, Open
// writes the state ready. So a folder that has lost Pebble's files is not mistaken for an empty store.
//
// A line names each log that contains durable updates. The line is there from before the first of these updates is
// acknowledged until the log is no longer needed. So Open notices a log that was deleted or emptied. The file is
// replaced by rename, so it is complete or absent.
const (
	metaName = "SORTKEY"
	metaTemp = "SORTKEY.tmp"
	maxMeta  = 64 << 10 // bytes
	metaHead = "sortkey store"
	lockName = "LOCK"

	stateNew   = "new"
	stateReady = "ready"
)

// readMeta returns the state of the folder, which is ready, new, or "" for an empty folder, and its logs. The error
// says why the folder cannot be opened.
func readMeta(fsys vfs.FS, dir string) (state string, logs []string, err error) {
	f, err := fsys.Open(fsys.PathJoin(dir, metaName))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, checkEmpty(fsys, dir)
	}
	if err != nil {
		return "", nil, fmt.Errorf("disk: %w", err)
	}

	text, err := io.ReadAll(io.LimitReader(f, maxMeta))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", nil, fmt.Errorf("disk: cannot read %s in %s: %w", metaName, dir, err)
	}
	var format int
	head, rest, _ := strings.Cut(string(text), "\n")
	if n, _ := fmt.Sscanf(rest, "format %d\n", &format); head != metaHead || n != 1 || format < 1 {
		return "", nil, fmt.Errorf(
			"disk: the file %s in %s is not a Sortkey file, or is cut off: copy the whole folder again", metaName, dir,
		)
	}
	if format != Format {
		return "", nil, otherFormat(dir, format)
	}

	_, err = fmt.Sscanf(rest, "format %d\nstate %s\n", &format, &state)
	if err != nil || state != stateNew && state != stateReady {
		return "", nil, fmt.Errorf(
			"disk: the file %s in %s is damaged: copy the whole folder again, or restore a snapshot", metaName, dir,
		)
	}
	for line := range strings.Lines(rest) {
		if log, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "log "); ok {
			logs = append(logs, log)
		}
	}
	return state, logs, nil
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
			return fmt.Errorf(
				"disk: %s contains %s but not %s: it is not a Sortkey store, or an incomplete copy of one",
				dir, name, metaName,
			)
		}
	}
	return nil
}

// removeUnfinished removes the engine's files from a folder in the state new. A crash while Open created them may
// have left some. They contain no rows, because that Open has not returned.
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

// The names of Pebble's files, including temporary ones.
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

// resolve returns the canonical name of a folder, without symbolic links. Otherwise this process could open one
// folder twice under different names.
func resolve(fsys vfs.FS, dir string) (string, error) {
	if vfs.Root(fsys) == vfs.Default {
		abs, err := filepath.Abs(dir)
		if err == nil {
			abs, err = filepath.EvalSymlinks(abs)
		}
		if err != nil {
			return "", fmt.Errorf("disk: %w", err)
		}
		dir = abs
	}
	return fsys.PathDir(fsys.PathJoin(dir, metaName)), nil // in the form in which guard.ours compares paths
}

// Exists reports whether a folder contains a store, in any format and any state. With it, a program can refuse to
// create a store under a misspelled name. Exists ignores opts, except for the file system of tests.
func Exists(dir string, opts Options) bool {
	fsys := opts.withDefaults().fs
	_, err := fsys.Stat(fsys.PathJoin(dir, metaName))
	return err == nil
}

// Lock locks a store's folder without opening it, for a program that moves or removes the folder. No store can be
// opened in the folder until the lock is closed. The error is [ErrLocked] when the folder is already locked. Lock
// ignores opts, except for the file system of tests.
func Lock(dir string, opts Options) (io.Closer, error) {
	fsys := opts.withDefaults().fs
	dir, err := resolve(fsys, dir)
	if err != nil {
		return nil, err
	}
	lock, err := lockDir(fsys, dir, false)
	if err != nil {
		return nil, err
	}
	return lock, nil
}

// lockDir locks a folder for this store alone or, if shared is set, together with others that only read. Pebble's own
// lock is on the file LOCK in the folder, but Pebble would not notice if somebody deleted that file. So lockDir also
// locks the folder itself where the system can. LOCK cannot be shared: where the system can lock folders, readers
// lock only the folder.
func lockDir(fsys vfs.FS, dir string, shared bool) (*folderLock, error) {
	l := &folderLock{}
	var err error
	if vfs.Root(fsys) == vfs.Default {
		l.folder, err = flockDir(dir, shared)
	}
	if err == nil {
		file := fsys
		if shared && l.folder != nil {
			file = unlockedFS{fsys}
		}
		if l.Lock, err = pebble.LockDirectory(dir, file); err == nil {
			return l, nil
		}
		_ = l.closeFolder()
	}
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return nil, fmt.Errorf("disk: no permission to write in %s: %w", dir, err)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.ENOSPC):
		return nil, fmt.Errorf("disk: cannot lock %s: %w", dir, err)
	}
	if shared {
		return nil, fmt.Errorf("%w: %s is open for writing in this process or another: close it there first (%w)",
			ErrLocked, dir, err)
	}
	return nil, fmt.Errorf("%w: %s is open in this process or another: close it there first; "+
		"programs that only read can share it if all of them set Options.ReadOnly (%w)", ErrLocked, dir, err)
}

// An unlockedFS is a file system on which locking a file does nothing.
type unlockedFS struct{ vfs.FS }

// Lock implements [vfs.FS].
func (unlockedFS) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// A folderLock holds both locks of a folder.
type folderLock struct {
	*pebble.Lock
	folder io.Closer // nil where the system cannot lock a folder
}

// Close implements [io.Closer].
func (l *folderLock) Close() error { return errors.Join(l.Lock.Close(), l.closeFolder()) }

func (l *folderLock) closeFolder() error {
	if l.folder == nil {
		return nil
	}
	return l.folder.Close()
}

func writeMeta(fsys vfs.FS, dir, state string, logs ...string) error {
	text := fmt.Sprintf("%s\nformat %d\nstate %s\n", metaHead, Format, state)
	for _, log := range logs {
		text += "log " + log + "\n"
	}
	return replaceMeta(fsys, dir, text)
}

func replaceMeta(fsys vfs.FS, dir, text string) error {
	return replaceFile(fsys, dir, metaName, []byte(text))
}

// replaceFile replaces a file of a folder durably: after a crash, the file is either the old or the new one, and
// complete.
func replaceFile(fsys vfs.FS, dir, name string, data []byte) error {
	temp := fsys.PathJoin(dir, metaTemp)
	f, err := fsys.Create(temp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := fsys.Rename(temp, fsys.PathJoin(dir, name)); err != nil {
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

// makeDir creates a folder and its parents, durably.
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
	if err := fsys.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, parent := range above {
		if err := syncDir(fsys, parent); err != nil {
			return err
		}
	}
	return nil
}
