package disk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

var _ capability.Loader = (*Store)(nil)

// Load implements [capability.Loader], for many rows that are in order already. It writes each run to a file of rows,
// in a folder inside the store's own. Then the engine adds all of these files in one step. So the rows are neither in
// the log nor in memory. If the disk is full while Load writes its files, the store does not fail.
//
// Like an Update, a Load waits until the running Update or Load has ended.
func (s *Store) Load(ctx context.Context, fn func(store.Loading) error) error {
	if err := s.begin(); err != nil {
		return s.closedOr(err)
	}
	defer s.end()
	if s.opts.ReadOnly {
		return ErrReadOnly
	}
	if err := s.lockWrites(ctx); err != nil {
		return err
	}
	defer func() { <-s.writer }()
	if err := s.failed(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	l := &loading{reader: reader{ctx: ctx, store: s, from: s.db}, dir: s.forks.add()}
	defer func() { _ = s.forks.remove(l.dir) }()
	err := func() error {
		defer l.finish()
		if err := s.opts.fs.MkdirAll(l.dir, 0o700); err != nil {
			return fmt.Errorf("disk: load: %w", err)
		}
		return fn(l)
	}()
	// Updates whose changes fn has read must be durable before the caller learns of them, and before the rows that fn
	// adds are durable.
	if last := s.applied; last != nil {
		<-last.durable
		if last.err != nil {
			return last.err
		}
	}
	if err != nil || len(l.files) == 0 {
		return err
	}
	return s.ingest(ctx, l.files)
}

// ingest adds files to the store. The caller holds the write lock and has waited until every commit is durable.
func (s *Store) ingest(ctx context.Context, files []string) error {
	// Sync the log first. Otherwise a crash could lose updates that are older than the files, but keep the files.
	if s.opts.SyncEvery > 0 {
		s.logging.Lock()
		err := s.protect(func() error { return s.db.LogData(nil, pebble.Sync) })
		s.logging.Unlock()
		if err != nil {
			return err
		}
	}
	var refused error // an error about the files, returned before anything has changed
	err := s.protect(func() error {
		refused = s.db.Ingest(context.WithoutCancel(ctx), files)
		return nil
	})
	switch {
	case err != nil:
		return err
	case refused != nil:
		return fmt.Errorf("disk: load: %w", refused)
	}

	c := &commit{durable: make(chan struct{})}
	if s.applied != nil {
		c.seq = s.applied.seq
	}
	c.seq++
	c.after = &version{snapshot: s.db.NewSnapshot(), seq: c.seq}
	s.applied = c
	close(c.durable)
	s.publish(c.after)
	return nil
}

// A loading writes files of rows.
type loading struct {
	reader
	dir string

	mu    sync.Mutex
	files []string
}

// Add implements [store.Loading].
func (l *loading) Add(changes iter.Seq2[[]byte, []byte]) (err error) {
	if l.finished() {
		return store.ErrClosed
	}
	s := l.store
	var w *sstable.Writer
	defer func() {
		if w != nil {
			if closed := w.Close(); err == nil {
				err = closed
			}
		}
		if err != nil && !errors.Is(err, ErrTooLarge) && l.ctx.Err() == nil {
			err = fmt.Errorf("disk: load: %w", err)
		}
	}()

	n := 0
	for addr, value := range changes {
		if w == nil {
			if w, err = l.create(); err != nil {
				return err
			}
		}
		if n++; n%capability.ContextRows == 0 && l.ctx.Err() != nil {
			return context.Cause(l.ctx)
		}
		switch {
		case len(addr) > maxKey:
			return ErrTooLarge
		case value == nil:
			err = w.Delete(addr)
		default:
			err = w.Set(addr, value)
		}
		if err != nil {
			return err
		}
	}
	return s.failed()
}

// create creates the next file.
func (l *loading) create() (*sstable.Writer, error) {
	s := l.store
	l.mu.Lock()
	name := s.opts.fs.PathJoin(l.dir, fmt.Sprintf("%06d.sst", len(l.files)))
	l.files = append(l.files, name)
	l.mu.Unlock()
	f, err := s.opts.fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	return sstable.NewWriter(objstorageprovider.NewFileWritable(f), s.tables), nil
}
