package disk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sortkey/sortkey/store"
)

// Snapshot implements [store.Snapshotter]. The folder must not lie in the
// store's own. It ends early when ctx does, where files are copied because the
// folder is on another file system. Tables of rows are linked where
// the file system can, so it takes little time and room; reads go on, and
// updates wait for as long as linking takes. It must not be called inside an
// Update. Open the copy as any store, and remove a folder that an error left
// unfinished; Open refuses it. A store that is open for reading only gives
// [ErrReadOnly]: its folder can be copied as it is.
func (s *Store) Snapshot(ctx context.Context, dir string) error {
	if err := s.begin(); err != nil {
		return s.closedOr(err)
	}
	defer s.end()
	fsys := s.opts.FS
	if fsys == vfs.Default {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return fmt.Errorf("disk: snapshot: %w", err)
		}
		dir = abs
		if above, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
			dir = filepath.Join(above, filepath.Base(dir))
		}
	}
	for at := dir; ; at = fsys.PathDir(at) {
		if at == s.dir {
			return fmt.Errorf("disk: snapshot: %s lies in the store's own folder", dir)
		}
		if fsys.PathDir(at) == at {
			break
		}
	}
	if err := checkNew(fsys, dir); err != nil {
		return fmt.Errorf("disk: snapshot: %w", err)
	}
	near, err := s.link()
	if err != nil {
		return err
	}
	return errors.Join(move(ctx, fsys, near, dir), s.forks.leave(near))
}

// checkNew refuses a path that something has.
func checkNew(fsys vfs.FS, path string) error {
	_, err := fsys.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return cmp.Or(err, error(&fs.PathError{Op: "checkpoint", Path: path, Err: fs.ErrExist}))
}

// link makes a copy of the store in a folder of s.forks, which the caller
// leaves.
//
// The engine copies its log as far as it finds it, and takes a log for corrupt
// whose blocks it copied before and after a write (cockroachdb/pebble issue
// 5142). So nobody writes meanwhile.
func (s *Store) link() (_ string, err error) {
	if s.opts.ReadOnly {
		return "", ErrReadOnly
	}
	dir := s.forks.enter()
	defer func() {
		if err != nil {
			_ = s.forks.leave(dir)
		}
	}()
	s.flush() // what is in a file is shared, what is in the log is copied and read again
	s.writer <- struct{}{}
	defer func() { <-s.writer }()
	s.logging.Lock()
	defer s.logging.Unlock()
	if failed := s.failed(); failed != nil {
		return "", failed
	}
	var full error // a full disk there is no failure here
	if failed := s.protect(func() error {
		full = s.db.Checkpoint(dir, pebble.WithFlushedWAL())
		return nil
	}); failed != nil {
		return "", failed
	}
	if full == nil {
		full = writeMeta(s.fs, dir, stateReady)
	}
	if failed := s.failed(); failed != nil {
		return "", failed
	}
	if full != nil {
		return "", fmt.Errorf("disk: snapshot: %w", full)
	}
	return dir, nil
}

// move gives a copy its place, durably: by its name where that is on the same
// file system, and otherwise file by file, the one that makes it a store last.
func move(ctx context.Context, fsys vfs.FS, from, to string) error {
	err := makeDir(fsys, fsys.PathDir(to))
	if err == nil && fsys.Rename(from, to) != nil {
		if err = checkNew(fsys, to); err == nil { // nobody made it meanwhile
			err = copyDir(ctx, fsys, from, to)
		}
	}
	if err == nil {
		err = syncDir(fsys, fsys.PathDir(to))
	}
	if err != nil {
		return fmt.Errorf("disk: snapshot: %w", err)
	}
	return nil
}

func copyDir(ctx context.Context, fsys vfs.FS, from, to string) error {
	names, err := fsys.List(from)
	if err != nil {
		return err
	}
	if err := fsys.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		if name == metaName {
			continue
		}
		if err := copyFile(ctx, fsys, fsys.PathJoin(from, name), fsys.PathJoin(to, name)); err != nil {
			return err
		}
	}
	return writeMeta(fsys, to, stateReady)
}

func copyFile(ctx context.Context, fsys vfs.FS, from, to string) error {
	src, err := fsys.Open(from, vfs.SequentialReadsOption)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := fsys.Create(to, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	if _, err = io.Copy(dst, &contextReader{ctx, src}); err == nil {
		err = dst.Sync()
	}
	return errors.Join(err, dst.Close())
}

// flush writes the rows that are in memory and in the log to a file, so that
// an Open has less to read. It gives up when the store fails: the engine would
// try for ever.
func (s *Store) flush() {
	if s.failed() != nil {
		return
	}
	_ = s.protect(func() error {
		done, err := s.db.AsyncFlush()
		if err != nil {
			return err
		}
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return nil
			case <-tick.C:
				if s.failed() != nil {
					return nil
				}
			}
		}
	})
}

var _ store.Forker = (*Store)(nil)

// forkSync is the interval a fork is synced at if its origin syncs each Update:
// it does not outlive the process, so there is nothing to be gained by waiting.
const forkSync = time.Hour

// Fork implements [store.Forker] with a checkpoint in a temporary folder inside
// the store's own. Rows that are in memory only are written to a file first,
// and files of rows are shared, so it takes as long as writing up to
// [Options.MemTableBytes]. Like [Store.Snapshot], it must not be called
// inside an Update. Closing the fork removes its folder; one that a crash left is removed when the store is opened
// the next time. A fork may outlive the store it came from, but not the
// process, and survives no crash. The error is [ErrReadOnly] for a store that is
// open for reading only.
func (s *Store) Fork() (store.Store, error) {
	if err := s.begin(); err != nil {
		return nil, s.closedOr(err)
	}
	defer s.end()
	dir, err := s.link()
	if err != nil {
		return nil, err
	}
	opts := s.opts
	if opts.SyncEvery == 0 {
		opts.SyncEvery = forkSync
	}
	fork, err := openStore(dir, opts, s.forks)
	if err != nil {
		return nil, errors.Join(err, s.forks.leave(dir))
	}
	return fork, nil
}

// removeFork removes the folder of a fork.
func (s *Store) removeFork() {
	if err := s.forks.leave(s.dir); err != nil {
		s.opts.Logger.Warn("a fork's folder stays", "dir", s.dir, "err", err)
	}
}
