package disk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sortkey/sortkey/store"
)

// Checkpoint makes a copy of the store, as it is now, in a folder that must
// not exist and not lie in the store's own. Tables of rows are linked where
// the file system can, so it takes little time and room. Open the copy as any
// store, and remove a folder that an error left unfinished; Open refuses it. A
// store that is open for reading only gives [ErrReadOnly]: its folder can be
// copied as it is.
func (s *Store) Checkpoint(dir string) error {
	if err := s.begin(); err != nil {
		return s.closedOr(err)
	}
	defer s.end()
	fsys := s.opts.FS
	if fsys == vfs.Default {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return fmt.Errorf("disk: checkpoint: %w", err)
		}
		dir = abs
		if above, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
			dir = filepath.Join(above, filepath.Base(dir))
		}
	}
	for at := dir; ; at = fsys.PathDir(at) {
		if at == s.dir {
			return fmt.Errorf("disk: checkpoint: %s lies in the store's own folder", dir)
		}
		if fsys.PathDir(at) == at {
			break
		}
	}
	return s.checkpoint(dir)
}

func (s *Store) checkpoint(dir string) error {
	if s.opts.ReadOnly {
		return ErrReadOnly
	}
	s.flush() // what is in a file is shared, what is in the log is copied and read again
	if failed := s.failed(); failed != nil {
		return failed
	}
	var err error
	if failed := s.protect(func() error {
		err = s.db.Checkpoint(dir, pebble.WithFlushedWAL())
		return nil // a full disk there is no failure here
	}); failed != nil {
		return failed
	}
	if err == nil {
		err = writeMeta(s.fs, dir, stateReady)
	}
	if failed := s.failed(); failed != nil {
		return failed
	}
	if err != nil {
		return fmt.Errorf("disk: checkpoint: %w", err)
	}
	return nil
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

// forksName is the folder in a store's own that its forks live in. There they
// are on the same file system, so files can be linked, and go with the data.
const forksName = "forks"

// forkSync is the interval a fork is synced at if its origin syncs each Update:
// it does not outlive the process, so there is nothing to be gained by waiting.
const forkSync = time.Hour

// Fork implements [store.Forker] with a checkpoint in a temporary folder inside
// the store's own. Rows that are in memory only are written to a file first,
// and files of rows are shared, so it takes as long as writing up to
// [Options.MemTableBytes]. Closing the fork
// removes its folder; one that a crash left is removed when the store is opened
// the next time. A fork may outlive the store it came from, but not the
// process, and survives no crash. The error is [ErrReadOnly] for a store that is
// open for reading only.
func (s *Store) Fork() (store.Store, error) {
	if err := s.begin(); err != nil {
		return nil, s.closedOr(err)
	}
	defer s.end()
	fsys := s.opts.FS
	dir := fsys.PathJoin(s.forks, strings.ToLower(rand.Text()))
	if err := s.checkpoint(dir); err != nil {
		_ = fsys.RemoveAll(dir)
		return nil, err
	}
	opts := s.opts
	if opts.SyncEvery == 0 {
		opts.SyncEvery = forkSync
	}
	fork, err := openStore(dir, opts, s.forks)
	if err != nil {
		_ = fsys.RemoveAll(dir)
		return nil, err
	}
	return fork, nil
}

// removeFork removes the folder of a fork, and that of all forks after the
// last one. What cannot be removed is left to [removeForks].
func (s *Store) removeFork() {
	if err := s.opts.FS.RemoveAll(s.dir); err != nil {
		s.opts.Logger.Warn("a fork's folder stays", "dir", s.dir, "err", err)
	}
	removeIfEmpty(s.opts.FS, s.forks)
}

// removeForks removes forks that a crash has left. Those that are still open
// stay: a fork may outlive its origin.
func removeForks(fsys vfs.FS, forks string) {
	names, err := fsys.List(forks)
	if err != nil {
		return // there are none
	}
	for _, name := range names {
		dir := fsys.PathJoin(forks, name)
		lock, err := pebble.LockDirectory(dir, fsys)
		if err != nil {
			continue
		}
		_ = errors.Join(lock.Close(), fsys.RemoveAll(dir))
	}
	removeIfEmpty(fsys, forks)
}

func removeIfEmpty(fsys vfs.FS, dir string) {
	if names, err := fsys.List(dir); err == nil && len(names) == 0 {
		_ = fsys.Remove(dir)
	}
}
