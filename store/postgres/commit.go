package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"

	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/internal/remote"
)

// commit applies the changes. Once it has sent the commit, it ignores the end of the context and waits for the
// outcome, for a limited time. It never guesses the outcome.
func (w *writer) commit() error {
	if w.changes.Empty() {
		return w.commitReads()
	}
	if w.row != nil {
		w.changes.Remember(remote.Row{Addr: w.row.addr, Value: w.row.value, Deleted: w.row.value == nil})
	}

	w.store.pins.take()
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.acquire(); err != nil {
		return err
	}

	var steps []*step
	size := 0
	if !w.begun {
		steps = w.opening(0)
	}

	for one := range w.steps {
		steps = append(steps, one)
		for _, p := range one.params {
			size += len(p)
		}
		if size < pipelineBytes && len(steps) < pipelineRows {
			continue
		}
		if at, err := w.send(steps); err != nil {
			if why := refusalAt(err, steps[at]); why != final && w.ctx.Err() == nil {
				return &retry{why, err, w.contended(steps[at])}
			}
			return err
		}
		steps, size = steps[:0], 0
	}

	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	done := &step{statement: commit}
	steps = append(steps, &step{statement: markCommit, params: [][]byte{id[:]}}, done)
	at, err := w.store.send(context.WithoutCancel(w.ctx), w.conn, steps)
	switch {
	case err == nil && done.tag == "COMMIT":
		w.store.settled(id)
		return nil
	case err == nil: // the server answers ROLLBACK if the transaction had failed before
		return &retry{conflict, fmt.Errorf("postgres: the database answered %s to a commit", done.tag), w.lostAt()}
	case aborted(err, at, len(steps)):
		if why := refusalAt(err, steps[at]); why != final {
			return &retry{why, err, w.contended(steps[at])}
		}
		return err
	}

	w.release() // the lookup needs a connection that works
	return w.store.resolve(context.WithoutCancel(w.ctx), id, err)
}

// commitReads ends an update without changes. Until the database has answered the commit, it is not certain that the
// update's reads are serialisable.
func (w *writer) commitReads() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.begun {
		return nil
	}
	_, err := w.send([]*step{{statement: commit}})
	if why := refusalOf(err); err != nil && why != final && w.ctx.Err() == nil {
		return &retry{why: why, err: err}
	}
	return err
}

// contended returns the key of the row at which the Update has lost to another one. If the failed statement changes a
// row, it is the key of that row. Otherwise contended calls [writer.lostAt].
func (w *writer) contended(failed *step) []byte {
	switch failed.statement {
	case insertRow, putRow, deleteRow:
		return failed.params[0]
	}
	return w.lostAt()
}

// lostAt returns the key of the row for which other Updates wait. If there is none, it returns the key of the first
// row that the Update changes: so Updates which change the same rows queue for the same row.
func (w *writer) lostAt() []byte {
	if w.awaited != nil {
		return w.awaited
	}
	for r := range w.changes.All() {
		if !r.Unchanged {
			key, _ := keys.Key(r.Addr)
			return key
		}
	}
	return nil
}

// resolve finds out the outcome of a commit that got no answer. It returns nil if the commit has happened. It returns
// a retry if the commit has not happened and no longer can.
func (s *Store) resolve(ctx context.Context, id [16]byte, cause error) error {
	s.counts.resolved.Add(1)
	s.opts.Logger.Warn("a commit got no answer; looking it up", "err", cause)
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	for tries := 1; ; tries++ {
		prevented, err := s.prevent(ctx, id)
		switch {
		case err == nil && prevented:
			return &retry{why: broken, err: cause}
		case err == nil:
			s.settled(id)
			return nil
		}
		if waited := backoff(ctx, tries); waited != nil {
			return fmt.Errorf("%w: %w, and then %w", ErrUnknown, cause, err)
		}
	}
}

// prevent prevents the commit of the update with the given id, or reports that the commit has happened. It inserts
// the id. If the transaction of the update is still running and has inserted the id, the insert waits for its end. If
// the transaction has not inserted the id yet, it no longer can. The answer to prevent may be lost too, so the row
// says whether prevent inserted it. The caller retries, because other connections of the pool may be broken as well.
func (s *Store) prevent(ctx context.Context, id [16]byte) (prevented bool, err error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Release()
	found := &step{statement: wasPrevented, params: [][]byte{id[:]}}
	_, err = send(ctx, conn, []*step{{statement: preventCommit, params: [][]byte{id[:]}}, found})
	return found.rows > 0, err
}

// ids collects the ids of commits whose outcome is known, to remove them from the database in groups.
type ids struct {
	mu  sync.Mutex
	all [][16]byte
}

const idGroup = 256

func (i *ids) add(id [16]byte) (group [][16]byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.all = append(i.all, id); len(i.all) < idGroup {
		return nil
	}
	group, i.all = i.all, make([][16]byte, 0, idGroup)
	return group
}

func (i *ids) takeAll() (group [][16]byte) {
	i.mu.Lock()
	defer i.mu.Unlock()
	group, i.all = i.all, nil
	return group
}

// settled records that the outcome of the commit with the given id is known.
func (s *Store) settled(id [16]byte) {
	if group := s.ids.add(id); group != nil {
		s.background.Go(func() { s.forget(context.Background(), group) })
	}
}

// forget removes ids from the database. It is not part of an update, because its reads would conflict with every
// commit. A later Open removes the ids that forget fails to remove.
func (s *Store) forget(ctx context.Context, group [][16]byte) {
	if len(group) == 0 {
		return
	}
	conn, err := s.acquire(ctx)
	if err != nil {
		return
	}
	defer conn.Release()
	steps := make([]*step, len(group))
	for i := range group {
		steps[i] = &step{statement: forgetCommit, params: [][]byte{group[i][:]}}
	}
	_, _ = s.send(ctx, conn, steps)
}

var _ store.Writer = (*writer)(nil)
