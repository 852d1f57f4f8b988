package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

// A Store keeps rows in a folder. [Open] returns it. It is safe for concurrent use.
type Store struct {
	dir        string
	opts       Options
	forks      *forkDir        // of this store and its forks
	isFork     bool            // remove the folder on Close
	background context.Context //nolint:containedctx // for log levels only
	fs         *guard
	lock       *folderLock
	db         *pebble.DB
	tables     sstable.WriterOptions // of files that Load writes
	stop       func()                // ends the interval syncs

	failure  atomic.Pointer[FailedError]
	poisoned atomic.Bool
	opened   atomic.Bool // Open is about to return s

	writer    chan struct{} // the write lock: full while an Update runs or a copy is made
	logging   sync.Mutex    // held while writing to the log, with or without the write lock
	applied   *commit       // the last commit; guarded by the write lock
	freeSpace freeSpace     // guarded by writer
	dirty     atomic.Bool   // with SyncEvery: updates were applied that are not synced

	mu      sync.Mutex
	idle    sync.Cond // signalled when users falls to 0
	users   int       // running calls and iterators
	closed  bool
	shut    chan struct{}      // closed when Close is done
	current *version           // the state that views read
	held    int                // number of versions with references: current, and those that Views still read
	unread  []*pebble.Snapshot // snapshots of versions that nobody reads, waiting to be closed
}

var _ capability.HealthChecker = (*Store)(nil)

// leastFree is the free disk space that a store should have, in bytes: for its rows in memory, its log, and a
// compaction.
const leastFree = 100 << 20

// Open opens the store in a folder, and creates the folder and the store if they do not exist. Several stores can
// share a folder only if all of them are open for reading only; see [Options.ReadOnly]. Open logs a warning when less
// than 100 MB of disk space is free.
//
// It returns [ErrLocked] when the folder is in use, and [ErrLoss] when acknowledged updates cannot be read. It
// returns other errors for a folder in another format or with damaged files, and the errors of the file system.
func Open(dir string, opts Options) (*Store, error) { return openStore(dir, opts, nil) }

// openStore opens a folder. For a fork, forks is the folder that contains it.
func openStore(dir string, opts Options, forks *forkDir) (*Store, error) {
	s := &Store{
		forks:      forks,
		isFork:     forks != nil,
		opts:       opts.withDefaults(),
		background: context.Background(),
		stop:       func() {},
		writer:     make(chan struct{}, 1),
		shut:       make(chan struct{}),
	}
	s.idle.L = &s.mu
	if err := s.open(dir); err != nil {
		return nil, err
	}

	if !s.isFork {
		s.forks = &forkDir{fs: s.opts.fs, path: s.opts.fs.PathJoin(s.dir, forksName)}
		if !s.opts.ReadOnly {
			s.forks.clear()
		}
	}

	s.current, s.held = &version{snapshot: s.db.NewSnapshot(), refs: 1}, 1
	if s.opts.SyncEvery > 0 && !s.opts.ReadOnly {
		s.startSyncing()
	}
	s.opened.Store(true)
	s.opts.Logger.Info("open files", "dir", s.dir, "kept_to_read", readFiles(descriptorLimit()))
	if usage, err := s.opts.fs.GetDiskUsage(s.dir); err == nil && usage.AvailBytes < leastFree && !s.opts.ReadOnly {
		s.opts.Logger.Warn("little free disk space: writes are refused once the disk is full", "dir", s.dir,
			"free_mb", usage.AvailBytes>>20, "want_mb", leastFree>>20)
	}
	return s, nil
}

func (s *Store) open(dir string) (err error) {
	fsys := s.opts.fs
	if !s.opts.ReadOnly {
		if err := makeDir(fsys, dir); err != nil {
			return fmt.Errorf("disk: %w", err)
		}
	} else if _, err := fsys.Stat(dir); err != nil {
		return fmt.Errorf("disk: %w", err)
	}

	if s.dir, err = resolve(fsys, dir); err != nil {
		return err
	}
	s.fs = &guard{FS: fsys, store: s, abandoned: make(chan struct{})}
	_, missing := fsys.Stat(fsys.PathJoin(s.dir, lockName))
	if s.lock, err = lockDir(s.fs, s.dir, s.opts.ReadOnly); err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		_ = s.lock.Lock.Close()
		if errors.Is(missing, fs.ErrNotExist) { // leave a refused folder as it was
			_ = fsys.Remove(fsys.PathJoin(s.dir, lockName))
		}
		_ = s.lock.closeFolder()
	}()

	state, logs, err := readMeta(s.fs, s.dir)
	if err != nil {
		return err
	}
	switch {
	case state == stateReady:
	case s.opts.ReadOnly:
		return fmt.Errorf("disk: %s does not contain a store", s.dir)
	case state == stateNew:
		err = removeUnfinished(s.fs, s.dir)
	default:
		err = writeMeta(s.fs, s.dir, stateNew)
	}
	if err != nil {
		return fmt.Errorf("disk: cannot open %s: %w", s.dir, err)
	}
	if f := s.failure.Load(); f != nil {
		return fmt.Errorf("disk: cannot open %s: %w", s.dir, f.Err)
	}
	if state == stateReady {
		err = s.checkLogs(logs)
	}
	if err == nil {
		err = s.openPebble(state == stateReady)
	}
	if err == nil && state != stateReady {
		// Pebble creates its first log before it knows the format of the folder. That log lacks the offsets that tell
		// damage in the middle of a log from its end. Flush begins another log, which has them.
		s.flush()
		err = s.failed()
	}
	if err == nil && state != stateReady {
		if err = s.fs.ready(); err == nil {
			err = s.failed()
		}
	}
	if err != nil && s.db != nil {
		_ = s.db.Close()
	}
	if f, ok := errors.AsType[*FailedError](err); ok {
		err = f.Err
	}
	if err != nil {
		return fmt.Errorf("disk: cannot open %s: %w", s.dir, err)
	}
	return nil
}

// openPebble opens the engine. If exists is true, it returns an error when the engine has no files.
func (s *Store) openPebble(exists bool) error {
	o := s.pebble()
	o.EnsureDefaults()
	s.tables = o.MakeWriterOptions(0, o.FormatMajorVersion.MaxTableFormat())
	o.Lock = s.lock.Lock
	o.ErrorIfNotExists = exists
	o.FileCache = fileCache()
	defer unref(o.FileCache) // the engine holds its own reference

	opened := make(chan *pebble.DB)
	go func() {
		var db *pebble.DB
		_ = s.protect(func() (err error) {
			db, err = pebble.Open(s.dir, o)
			return err
		})
		select {
		case opened <- db:
		case <-s.fs.abandoned:
			if db != nil {
				_ = db.Close()
			}
		}
	}()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for left := s.opts.timeout; left > 0; {
		select {
		case s.db = <-opened:
			return s.failed()
		case <-tick.C:
			if s.failed() != nil {
				left -= pollInterval
			}
		}
	}
	// Pebble retries for ever to flush what it has read from the log, and nothing can stop it. But the failed store
	// writes nothing more, so the folder can be unlocked.
	close(s.fs.abandoned)
	return errors.Join(s.failed(), (&unlocker{s.fs}).Close())
}

// unref drops a reference to a cache. It recovers the panic that follows if the engine's Open has failed and still
// holds references to the cache.
func unref(c *pebble.FileCache) {
	defer func() { _ = recover() }()
	c.Unref()
}

// begin counts a user, unless the store is closed or failed.
func (s *Store) begin() error {
	if err := s.failed(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	s.users++
	return nil
}

// hold counts another user inside a call that is already counted.
func (s *Store) hold() {
	s.mu.Lock()
	s.users++
	s.mu.Unlock()
}

func (s *Store) end() {
	s.mu.Lock()
	if s.users--; s.users == 0 {
		s.idle.Broadcast()
	}
	s.mu.Unlock()
}

// View implements [store.Store]. It reads the latest state that is on disk, and never waits for updates.
func (s *Store) View(ctx context.Context, fn func(store.Reader) error) error {
	if err := s.begin(); err != nil {
		return s.closedOr(err)
	}
	defer s.end()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m := s.acquire()
	defer s.release(m)
	r := &reader{ctx: ctx, store: s, from: m.snapshot}
	defer r.finish()
	return fn(r)
}

// closedOr returns ErrClosed for a closed store, otherwise err.
func (s *Store) closedOr(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return store.ErrClosed
	}
	return err
}

// Close implements [store.Store]. It waits for the running calls, so it must
// not be called inside one. A failed store returns its [*FailedError].
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		<-s.shut
		return nil
	}
	s.closed = true
	for s.users > 0 {
		s.idle.Wait()
	}
	current := s.current
	s.mu.Unlock()
	defer close(s.shut)

	s.stop()
	switch {
	case s.isFork:
		defer s.removeFork()
	case !s.opts.ReadOnly:
		s.flush() // otherwise the next Open must read the log
	}
	var err error
	if s.poisoned.Load() {
		err = errors.Join((&unlocker{s.fs}).Close(), s.lock.closeFolder())
	} else {
		s.release(current)
		err = s.db.Close()
		if err == nil && s.failed() == nil && !s.isFork && !s.opts.ReadOnly {
			err = writeMeta(s.opts.fs, s.dir, stateReady) // no log is needed any more
		}
		err = errors.Join(err, s.lock.Close())
	}
	if failed := s.failed(); failed != nil {
		return failed
	}
	if err != nil {
		return fmt.Errorf("disk: cannot close %s: %w", s.dir, err)
	}
	return nil
}
