package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
)

// A session is the transaction of one View, or of one attempt of an Update. It takes a connection when it first needs
// one.
type session struct {
	ctx   context.Context //nolint:containedctx // lives as long as the call of View or Update
	store *Store
	begin statement
	row   *expectation // the expectation to read with the first read, or nil
	first []byte       // key of a row to lock before the first read, or nil

	exclusive bool
	awaited   []byte // key of the row for which others wait, if yield has ended the transaction

	done atomic.Bool

	mu    sync.Mutex // held while the connection is in use
	conn  *pgxpool.Conn
	begun bool
	fault error // an error that has ended the transaction, or nil
}

// run sends steps in one round trip, within the transaction. If the transaction has not begun, run begins it. If the
// connection is broken at that time, run tries other connections: it may, because nothing was read before.
func (s *session) run(wanted ...*step) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.done.Load():
		return store.ErrClosed
	case s.fault != nil:
		return s.fault
	case s.begun && wanted[0].statement == takeSnapshot:
		return nil
	case s.begun:
		_, err := s.send(wanted)
		return err
	}

	steps := append(s.opening(len(wanted)+1), wanted...)
	met := func() bool { return true }
	if s.row != nil {
		var read *step
		read, met = s.row.step()
		steps = append(steps, read)
	}

	for tries := 1; ; tries++ {
		err := s.acquire()
		if err == nil {
			if _, err = s.send(steps); err == nil {
				s.begun = true
				if !met() {
					s.fault = capability.ErrChanged
				}
				return s.fault
			}
		}
		if tries == connTries || s.ctx.Err() != nil || refusalOf(err) == final {
			return err
		}
		s.store.opts.Logger.Debug("trying another connection", "err", err)
		s.fault = nil
		s.release()
		if tries == 2 && !crowded(err) {
			s.store.pool.Reset() // two broken connections in a row: the database was probably down, so drop all
		}
		if err := backoff(s.ctx, tries); err != nil {
			s.fault = err
			return err
		}
	}
}

// opening returns the steps that begin the transaction, in a slice with capacity for more.
func (s *session) opening(more int) []*step {
	steps := make([]*step, 0, 3+more)
	switch s.begin {
	case beginNothing:
		return steps
	case beginUpdate:
		steps = append(steps, &step{statement: beginUpdate}, &step{statement: limitIdle})
		if s.first != nil {
			steps = append(steps, &step{statement: holdRow, params: [][]byte{s.first}})
		}
		return steps
	}
	return append(steps, &step{statement: s.begin})
}

// connTries is how many connections a transaction tries to begin on.
const connTries = 4

// acquire takes a connection.
func (s *session) acquire() error {
	if s.conn != nil {
		return nil
	}
	conn, err := s.store.acquire(s.ctx)
	if err != nil {
		s.fault = err
		return err
	}
	s.conn = conn
	return nil
}

// send runs steps. It keeps an error as the fault of the session.
func (s *session) send(steps []*step) (failed int, err error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	if failed, err = s.store.send(s.ctx, s.conn, steps); err != nil {
		s.fault = err
	}
	return failed, err
}

// read runs the steps of a read. If the session is of a View, the View has its snapshot afterwards.
func (s *session) read(steps ...*step) error {
	s.store.pins.remove(s)
	return s.run(steps...)
}

// yield ends the transaction of an Update that is about to read a row for which other Updates queue.
func (s *session) yield(key []byte) error {
	if s.begin != beginUpdate || s.exclusive || !s.store.waitQueue.waits(key) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		s.fault, s.awaited = errQueued, key
	}
	return s.fault
}

// pin makes a View that has read nothing yet take its snapshot.
func (s *session) pin() {
	_ = s.run(&step{statement: takeSnapshot}) // if it fails, the next read returns the error
	s.store.pins.remove(s)
}

// verify makes sure that the session has read the expected row, if there is an expectation. It returns
// [capability.ErrChanged] if the row is not as expected. If verify has to read the row itself, it also returns the
// error of that read.
func (s *session) verify() error {
	s.mu.Lock()
	begun, fault := s.begun, s.fault
	s.mu.Unlock()
	switch {
	case s.row == nil:
		return nil
	case !begun && fault == nil:
		return s.read(&step{statement: takeSnapshot})
	case errors.Is(fault, capability.ErrChanged):
		return fault
	}
	return nil
}

// finish ends the transaction without a commit.
func (s *session) finish() {
	s.done.Store(true)
	s.store.pins.remove(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release()
}

// release returns the connection to the pool. If a transaction is open, a goroutine rolls it back first. The caller
// holds s.mu.
func (s *session) release() {
	conn := s.conn
	s.conn = nil
	if conn == nil {
		return
	}
	if conn.Conn().IsClosed() || conn.Conn().PgConn().TxStatus() == 'I' {
		conn.Release()
		return
	}
	s.store.background.Go(func() { s.store.rollback(context.WithoutCancel(s.ctx), conn) })
}

// acquire takes a connection from the pool. If the database accepts no more connections, it waits for one that the
// pool already has.
func (s *Store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	limited, end := s.limit.on(ctx)
	defer end()
	conn, err := s.pool.Acquire(limited)
	for tries := 1; crowded(err) && s.pool.Stat().TotalConns() > 0; tries++ {
		if backoff(limited, tries) != nil {
			break
		}
		conn, err = s.pool.Acquire(limited)
	}
	switch {
	case err == nil:
		return conn, nil
	case s.closed.Load():
		return nil, store.ErrClosed
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case limited.Err() != nil:
		return nil, fmt.Errorf("postgres: no connection within %s, of at most %d: %w: %w",
			s.opts.Timeout, s.pool.Config().MaxConns, store.ErrUnavailable, context.Cause(limited))
	}
	return nil, wrap(err)
}

// send runs steps in one round trip, like the function send, and limits its time.
func (s *Store) send(ctx context.Context, conn *pgxpool.Conn, steps []*step) (failed int, err error) {
	limited, end := s.limit.on(ctx)
	defer end()
	failed, err = send(limited, conn, steps)
	switch {
	case err == nil:
		s.heard.Store(time.Now().UnixNano())
		return failed, nil
	case ctx.Err() != nil:
		return failed, context.Cause(ctx)
	case limited.Err() != nil:
		return failed, fmt.Errorf(
			"postgres: no answer within %s: %w: %w", s.opts.Timeout, store.ErrUnavailable, context.Cause(limited),
		)
	}
	return failed, wrap(err)
}

// pins are the Views that have no snapshot yet. A View must not see an Update whose commit begins after the View did.
// So before a commit, the store makes these Views take their snapshots. Usually there are none, because most Views
// read as soon as they begin.
type pins struct {
	mu    sync.Mutex
	views map[*session]struct{}
}

func (p *pins) add(s *session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.views == nil {
		p.views = map[*session]struct{}{}
	}
	p.views[s] = struct{}{}
}

func (p *pins) remove(s *session) {
	if s.begin != beginView {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.views, s)
}

// take makes all Views take their snapshots.
func (p *pins) take() {
	p.mu.Lock()
	views := make([]*session, 0, len(p.views))
	for s := range p.views {
		views = append(views, s)
	}
	p.mu.Unlock()
	var running sync.WaitGroup
	for _, s := range views {
		running.Go(s.pin)
	}
	running.Wait()
}
