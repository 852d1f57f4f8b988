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

// Snapshot implements [store.Snapshotter]. The folder must not be inside the store's own. Files of rows are
// hard-linked where the file system supports it, so a snapshot takes little time and space. Reads continue; updates
// wait while files are linked. If the folder is on another file system, Snapshot copies the files, and stops when ctx
// ends.
//
// Snapshot must not be called inside an Update. The copy opens like any store. After an error the folder may be
// incomplete: Open refuses it, and you can remove it. For a store opened for reading only, the error is
// [ErrReadOnly]; use [Copy] for its folder.
func (s *Store) Snapshot(ctx context.Context, dir string) error {
	if err := s.begin(); err != nil {
		return s.closedOr(err)
	}
	defer s.end()
	fsys := s.opts.fs
	if vfs.Root(fsys) == vfs.Default {
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
			return fmt.Errorf("disk: snapshot: %s is inside the store's own folder", dir)
		}
		if fsys.PathDir(at) == at {
			break
		}
	}

	if err := checkNew(fsys, dir); err != nil {
		return fmt.Errorf("disk: snapshot: %w", err)
	}
	near, err := s.link(ctx)
	if err != nil {
		return err
	}
	return errors.Join(move(ctx, fsys, near, dir), s.forks.remove(near))
}

// checkNew returns an error if the path exists.
func checkNew(fsys vfs.FS, path string) error {
	_, err := fsys.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return cmp.Or(err, error(&fs.PathError{Op: "checkpoint", Path: path, Err: fs.ErrExist}))
}

// link copies the store to a new folder in s.forks. The caller must remove it with s.forks.remove.
//
// No write may run meanwhile. The engine copies its log up to the current end. If some blocks were copied before a
// write and others after it, the engine would later treat the copied log as corrupt (cockroachdb/pebble issue 5142).
func (s *Store) link(ctx context.Context) (_ string, err error) {
	if s.opts.ReadOnly {
		return "", ErrReadOnly
	}

	dir := s.forks.add()
	defer func() {
		if err != nil {
			_ = s.forks.remove(dir)
		}
	}()

	// Flushing leaves less of the log to copy and to read again; the files of rows are shared, not copied.
	s.flush()
	if err := s.lockWrites(ctx); err != nil {
		return "", err
	}
	defer func() { <-s.writer }()
	s.logging.Lock()
	defer s.logging.Unlock()
	if failed := s.failed(); failed != nil {
		return "", failed
	}

	var full error // an error that does not fail the store, such as a full disk at the copy
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

// move moves a copy to its place, durably. It renames the folder if both paths are on one file system. Otherwise it
// copies the files, and copies SORTKEY last, which makes the folder a store.
func move(ctx context.Context, fsys vfs.FS, from, to string) error {
	err := makeDir(fsys, fsys.PathDir(to))
	if err == nil && fsys.Rename(from, to) != nil {
		if err = checkNew(fsys, to); err == nil { // nobody created it meanwhile
			err = copyDir(ctx, fsys, from, to, nil)
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

// copyDir copies a closed store. SORTKEY, which lists its logs, comes last, so an incomplete copy cannot be opened as a
// store.
func copyDir(ctx context.Context, fsys vfs.FS, from, to string, logs []string) error {
	names, _, err := storeFiles(fsys, from)
	if err != nil {
		return err
	}
	if err := fsys.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, name := range names {
		if err := copyFile(ctx, fsys, fsys.PathJoin(from, name), fsys.PathJoin(to, name)); err != nil {
			return err
		}
	}
	return writeMeta(fsys, to, stateReady, logs...)
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

// A contextReader reads until its context ends.
type contextReader struct {
	ctx context.Context //nolint:containedctx // lives as long as one copy
	r   io.Reader
}

func (r *contextReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}

// flush writes the rows that are in memory and in the log to a file, so that the next Open has less to read. It stops
// when the store fails, because the engine would retry for ever.
func (s *Store) flush() {
	if s.failed() != nil {
		return
	}
	_ = s.protect(func() error {
		done, err := s.db.AsyncFlush()
		if err != nil {
			return err
		}
		tick := time.NewTicker(pollInterval)
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

// forkSync is the sync interval of a fork whose origin syncs each Update. A
// fork does not survive the process, so waiting for syncs would gain nothing.
const forkSync = time.Hour

// Fork implements [store.Forker] with a checkpoint in a temporary folder inside
// the store's own. It first writes the rows that are only in memory to a file
// and then shares files, so it takes as long as writing up to
// [Options.MemTableBytes]. Like [Store.Snapshot], it must not be called inside
// an Update. For a store opened for reading only, the error is [ErrReadOnly].
//
// Closing the fork removes its folder. The next Open of the original store
// removes folders left by a crash. A fork may outlive its original store, but
// not the process or a crash.
func (s *Store) Fork() (store.Store, error) {
	if err := s.begin(); err != nil {
		return nil, s.closedOr(err)
	}
	defer s.end()
	dir, err := s.link(context.Background())
	if err != nil {
		return nil, err
	}
	opts := s.opts
	if opts.SyncEvery == 0 {
		opts.SyncEvery = forkSync
	}
	fork, err := openStore(dir, opts, s.forks)
	if err != nil {
		return nil, errors.Join(err, s.forks.remove(dir))
	}
	return fork, nil
}

// ForksInstantly implements [store.Forker]. It returns false, because Fork writes rows and copies files that it
// cannot link.
func (s *Store) ForksInstantly() bool { return false }

// removeFork removes the folder of a fork.
func (s *Store) removeFork() {
	if err := s.forks.remove(s.dir); err != nil {
		s.opts.Logger.Warn("cannot remove the folder of a fork", "dir", s.dir, "err", err)
	}
}
