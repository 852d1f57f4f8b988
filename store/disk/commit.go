package disk

import (
	"context"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sortkey/sortkey/store"
)

// A moment is a state that views read: what was applied up to one update.
type moment struct {
	snapshot *pebble.Snapshot
	seq      uint64 // number of the update
	refs     int    // views that read it, and one for the store; guarded by Store.mu
}

// A commit is an update whose batch has been applied.
type commit struct {
	seq   uint64
	after *moment
	batch *pebble.Batch // until it is durable

	durable chan struct{} // closed when it is, or will never be
	err     error         // why it never will; set before durable is closed
}

// Update implements [store.Store]. It calls fn once. Updates run one after the
// other; while one waits it returns early if ctx ends. Once fn has returned,
// the end of ctx is not looked at.
func (s *Store) Update(ctx context.Context, fn func(store.Writer) error) error {
	if err := s.begin(); err != nil {
		return s.closedOr(err)
	}
	defer s.end()
	if s.opts.ReadOnly {
		return ErrReadOnly
	}
	select {
	case s.writer <- struct{}{}:
	default:
		select {
		case s.writer <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	c, own, err := s.run(ctx, fn)
	switch {
	case own:
		return s.settle(c)
	case c != nil:
		// Nothing was changed, but fn may have read what that commit wrote,
		// and its outcome tells of it.
		<-c.durable
		if c.err != nil {
			return c.err
		}
	}
	return err
}

// run calls fn and applies its batch, and gives the writer's token back. The
// commit is the one to wait for: fn's own, or the last before it.
func (s *Store) run(ctx context.Context, fn func(store.Writer) error) (c *commit, own bool, err error) {
	defer func() { <-s.writer }()
	if err := s.failed(); err != nil {
		return nil, false, err
	}
	if ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	}
	batch := s.db.NewIndexedBatch()
	w := &writer{reader: reader{ctx: ctx, store: s, from: batch}, batch: batch}
	handed := false // to the engine, which may look at it from then on
	defer func() {
		w.finish()
		if !handed {
			_ = batch.Close()
		}
	}()
	if err := fn(w); err != nil {
		return s.applied, false, err
	}
	if w.err != nil || batch.Empty() {
		return s.applied, false, w.err
	}
	handed = true
	return s.apply(batch)
}

// apply makes a batch visible to later updates and has its sync begun.
func (s *Store) apply(batch *pebble.Batch) (c *commit, own bool, err error) {
	err = s.protect(func() error {
		if s.opts.SyncEvery > 0 {
			return s.db.Apply(batch, pebble.NoSync)
		}
		return s.db.ApplyNoSyncWait(batch, pebble.Sync)
	})
	if err != nil {
		// The engine may still look at the batch, so it is not closed.
		return s.applied, false, err
	}
	c = &commit{batch: batch, durable: make(chan struct{})}
	if s.applied != nil {
		c.seq = s.applied.seq
	}
	c.seq++
	c.after = &moment{snapshot: s.db.NewSnapshot(), seq: c.seq}
	s.applied = c
	s.behind.Add(1)
	return c, true, nil
}

// settle waits until a commit is durable and lets views see it.
func (s *Store) settle(c *commit) error {
	defer close(c.durable)
	if s.opts.SyncEvery > 0 {
		s.dirty.Store(true)
	} else if err := c.batch.SyncWait(); err != nil {
		s.fail("sync", err)
	}
	_ = c.batch.Close()
	c.batch = nil
	s.behind.Add(-1)
	if c.err = s.failed(); c.err != nil {
		_ = c.after.snapshot.Close()
		return c.err
	}
	s.publish(c.after)
	return nil
}

// publish makes m the state that views read, unless a later one is already.
func (s *Store) publish(m *moment) {
	s.mu.Lock()
	m.refs++
	if s.current.seq < m.seq {
		s.current, m = m, s.current
	}
	s.mu.Unlock()
	s.release(m)
}

func (s *Store) acquire() *moment {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.current.refs++
	return s.current
}

// mostUnread bounds the snapshots that wait to be closed. Each keeps a version
// of what was written over since.
const mostUnread = 64

// release gives up a moment. Under load the snapshots of many are closed
// together, the latest first: whenever the earliest of all is closed the engine
// looks for compactions, which is a good part of the time of a small update.
// None waits once all commits are settled.
func (s *Store) release(m *moment) {
	var unread []*pebble.Snapshot
	s.mu.Lock()
	if m.refs--; m.refs == 0 {
		s.unread = append(s.unread, m.snapshot)
	}
	if s.behind.Load() == 0 || len(s.unread) >= mostUnread {
		unread, s.unread = s.unread, nil
	}
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
