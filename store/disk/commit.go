package disk

import (
	"context"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sortkey/sortkey/store"
)

// A version is a state that Views can read: the state of the store after one of the updates.
type version struct {
	snapshot *pebble.Snapshot
	seq      uint64 // number of the last update
	refs     int    // views that read it, plus one for the store; guarded by Store.mu
}

// A commit is an update whose batch has been applied in memory, and which may not be durable yet.
type commit struct {
	seq   uint64
	after *version
	batch *pebble.Batch // nil once durable

	durable chan struct{} // closed when the commit is durable or has failed
	err     error         // why it failed; set before durable is closed
}

// Update implements [store.Store]. It calls fn once. Updates run one after the
// other; a waiting Update returns early if ctx ends. After fn has returned,
// Update ignores the end of ctx.
func (s *Store) Update(ctx context.Context, fn func(store.Writer) error) error {
	if err := s.begin(); err != nil {
		return s.closedOr(err)
	}
	defer s.end()
	if s.opts.ReadOnly {
		return ErrReadOnly
	}
	if err := s.fs.starving.refusal(); err != nil {
		return err
	}
	if err := s.lockWrites(ctx); err != nil {
		return err
	}
	c, own, err := s.run(ctx, fn)
	switch {
	case own:
		return s.settle(c)
	case c != nil:
		// The function fn changed nothing, but it may have read what commit c wrote. Wait until c is durable.
		// Otherwise the caller could see changes that a crash then loses.
		<-c.durable
		if c.err != nil {
			return c.err
		}
	}
	return err
}

// lockWrites takes the write lock.
func (s *Store) lockWrites(ctx context.Context) error {
	select {
	case s.writer <- struct{}{}:
		return nil
	default:
	}
	for {
		select {
		case s.writer <- struct{}{}:
			return nil
		// the goroutine that holds the write lock may be waiting for descriptors or for space
		case <-s.fs.starving.channel():
			if err := s.fs.starving.refusal(); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// run calls fn, applies its batch and releases the write lock. If own is true, c is the commit of fn's changes.
// Otherwise c is the last commit before fn, or nil if there was none. The caller must wait for c.
func (s *Store) run(ctx context.Context, fn func(store.Writer) error) (c *commit, own bool, err error) {
	defer func() { <-s.writer }()
	if err := s.failed(); err != nil {
		return nil, false, err
	}
	if ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	}

	w := &writer{reader: reader{ctx: ctx, store: s, from: s.db}, batch: s.db.NewBatch()}
	if m := s.fs.durable.Load(); m != nil {
		var b [maxMark]byte
		_ = w.batch.LogData(m.append(b[:0]), nil) // always nil
	}

	handed := false // the engine has the batch and may still use it
	defer func() {
		w.finish()
		if !handed {
			_ = w.batch.Close()
		}
	}()

	if err := fn(w); err != nil {
		return s.applied, false, err
	}
	if w.err != nil || w.batch.Count() == 0 {
		return s.applied, false, w.err
	}

	if err := s.reserveSpace(w.batch.Len()); err != nil {
		return s.applied, false, err
	}
	handed = true
	return s.apply(w.batch)
}

// apply makes a batch visible to later updates and starts its sync.
func (s *Store) apply(batch *pebble.Batch) (c *commit, own bool, err error) {
	err = s.protect(func() error {
		if s.opts.SyncEvery > 0 {
			return s.db.Apply(batch, pebble.NoSync)
		}
		return s.db.ApplyNoSyncWait(batch, pebble.Sync)
	})
	if err != nil {
		// The engine may still use the batch, so do not close it.
		return s.applied, false, err
	}
	c = &commit{batch: batch, durable: make(chan struct{})}
	if s.applied != nil {
		c.seq = s.applied.seq
	}
	c.seq++
	c.after = &version{snapshot: s.db.NewSnapshot(), seq: c.seq}
	s.applied = c
	return c, true, nil
}

// settle waits until a commit is durable, then lets views see it.
func (s *Store) settle(c *commit) error {
	defer close(c.durable)
	if s.opts.SyncEvery > 0 {
		s.dirty.Store(true)
	} else if err := c.batch.SyncWait(); err != nil {
		s.fail("sync", err)
	}
	_ = c.batch.Close()
	c.batch = nil
	if c.err = s.failed(); c.err != nil {
		_ = c.after.snapshot.Close()
		return c.err
	}
	s.publish(c.after)
	return nil
}

// publish makes v the state that Views read from now on, unless they already read a later one.
func (s *Store) publish(v *version) {
	s.mu.Lock()
	s.held++
	v.refs++
	if s.current.seq < v.seq {
		s.current, v = v, s.current
	}
	s.mu.Unlock()
	s.release(v)
}

func (s *Store) acquire() *version {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.refs++
	return s.current
}

// Snapshots that nobody reads wait, and the store closes several together, the latest first. Whenever the earliest
// open snapshot closes, the engine checks for compactions, which takes a large part of the time of a small update.
// But while a snapshot waits, the engine keeps old versions of rows that changed after it. So at most maxUnread
// snapshots wait, for about unreadFor.
const (
	maxUnread = 64
	unreadFor = 10 * time.Millisecond
)

// release drops a reference to a version. When none is left, the snapshot of the version waits in s.unread to be
// closed.
func (s *Store) release(v *version) {
	s.mu.Lock()
	if v.refs--; v.refs == 0 {
		s.held--
		s.unread = append(s.unread, v.snapshot)
	}
	now := s.closed || len(s.unread) >= maxUnread
	if !now && len(s.unread) == 1 {
		time.AfterFunc(unreadFor, func() {
			if s.begin() == nil { // otherwise Close does it
				s.closeUnread()
				s.end()
			}
		})
	}
	s.mu.Unlock()
	if now {
		s.closeUnread()
	}
}

// closeUnread closes the snapshots that nobody reads.
func (s *Store) closeUnread() {
	s.mu.Lock()
	unread := s.unread
	s.unread = nil
	s.mu.Unlock()
	for _, snapshot := range slices.Backward(unread) {
		_ = snapshot.Close()
	}
}

// startSyncing syncs the log at an interval until s.stop is called.
func (s *Store) startSyncing() {
	quit, done := make(chan struct{}), make(chan struct{})
	s.stop = func() {
		close(quit)
		<-done
	}
	go func() {
		defer close(done)
		tick := time.NewTicker(s.opts.SyncEvery)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				if s.failed() == nil && s.dirty.Swap(false) {
					s.logging.Lock()
					_ = s.protect(func() error { return s.db.LogData(nil, pebble.Sync) })
					s.logging.Unlock()
				}
			}
		}
	}()
}
