package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/semaphore"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/internal/remote"
)

// A Store keeps rows in a database. [Open] returns it. It is safe for concurrent use.
type Store struct {
	opts      Options
	pool      *pgxpool.Pool
	most      int64               // Updates at the same time
	free      *semaphore.Weighted // an Update takes 1 of most, and an Update that runs alone takes all
	waitQueue *waitQueue
	limit     limit
	pins      pins
	ids       ids
	heard     atomic.Int64 // when the database last answered, in nanoseconds since 1970

	background background // rollbacks, removals of ids, and renewals of leases
	closed     atomic.Bool
	ending     chan struct{} // closed when Close begins
	shut       chan struct{} // closed when Close is done
	counts     counts
}

var _ capability.Getter = (*Store)(nil)

// Open opens the tables that [Init] created in a database. The URL has the form that PostgreSQL's clients take, such
// as postgres://user@host:5432/name?sslmode=verify-full, and may name several hosts. Open takes what the URL lacks
// from the environment and the password file of those clients. Ctx limits only the call of Open.
//
// Other Stores can have the same tables open, in other processes too. Errors: [ErrSchema], and errors of the
// connection.
func Open(ctx context.Context, url string, opts Options) (*Store, error) {
	opts = opts.withDefaults()
	config, err := parse(url)
	if err != nil {
		return nil, err
	}

	d, err := checkSchema(ctx, config.ConnConfig)
	if err != nil {
		return nil, err
	}
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error { return prepare(ctx, c, d) }
	switch {
	case opts.MaxConns > 0:
		config.MaxConns = int32(opts.MaxConns)
	case !sets(url, "pool_max_conns"):
		config.MaxConns = defaultConns
	}

	config.MaxConns = max(config.MaxConns, leastConns)
	if !sets(url, "pool_max_conn_idle_time") {
		config.MaxConnIdleTime = idleTime
	}
	if !sets(url, "pool_health_check_period") {
		config.HealthCheckPeriod = idleTime / 2
	}

	most := int64(max(1, int(config.MaxConns)-2))
	s := &Store{
		opts: opts, most: most, free: semaphore.NewWeighted(most), waitQueue: newWaitQueue(),
		ending: make(chan struct{}),
		shut:   make(chan struct{}),
	}
	s.limit.time = opts.Timeout
	if s.pool, err = pgxpool.NewWithConfig(context.WithoutCancel(ctx), config); err != nil {
		return nil, wrap(err)
	}
	return s, nil
}

// View implements [store.Store]. It is one read-only transaction.
func (s *Store) View(ctx context.Context, fn func(store.Reader) error) error {
	return s.view(ctx, fn, nil)
}

func (s *Store) view(ctx context.Context, fn func(store.Reader) error, row *expectation) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	r := &reader{session: session{ctx: ctx, store: s, begin: beginView, row: row}}
	s.pins.add(&r.session)
	defer r.finish()
	err := fn(r)
	if failed := r.verify(); failed != nil {
		return failed
	}
	return err
}

// Get implements [capability.Getter] with one statement, without a transaction.
func (s *Store) Get(ctx context.Context, space store.Space, partition, sort []byte) (value []byte, ok bool, err error) {
	if err := s.ready(ctx); err != nil {
		return nil, false, err
	}
	r := &reader{session: session{ctx: ctx, store: s, begin: beginNothing}}
	defer r.finish()
	return r.Get(space, partition, sort)
}

// ready returns an error if no transaction can begin now.
func (s *Store) ready(ctx context.Context) error {
	switch {
	case s.closed.Load():
		return store.ErrClosed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return nil
}

// Update implements [store.Store]. It calls fn again after a conflict with another Update, and when the connection
// broke but the commit did not happen, until [Options].Timeout has passed.
func (s *Store) Update(ctx context.Context, fn func(store.Writer) error) error {
	return s.update(ctx, fn, nil)
}

func (s *Store) update(ctx context.Context, fn func(store.Writer) error, row *expectation) error {
	conflicts, breaks := 0, 0
	a := attempt{row: row, presume: true}
	began := time.Now()
	for {
		err := s.try(ctx, fn, a)
		again, ok := errors.AsType[*retry](err)
		if !ok {
			return err
		}

		switch again.why {
		case presumed:
			a.presume = false
			continue
		case conflict:
			conflicts++
			s.counts.conflicts.Add(1)
		case queued:
		default:
			breaks++
			s.counts.broken.Add(1)
			s.opts.Logger.Warn("lost a database connection during an update; trying again", "err", again.err)
		}

		if time.Since(began) > s.opts.Timeout || breaks >= connTries {
			return again.lasting()
		}
		switch {
		case again.why == conflict && a.exclusive:
			a.lost = again.row
			continue
		case !a.exclusive && (again.why == queued || conflicts == exclusiveAfter):
			end, err := s.lockExclusive(ctx, again.row)
			if err != nil {
				return err
			}
			defer end()
			a.exclusive, a.lost = true, again.row
			continue
		}

		if err := backoff(ctx, conflicts+breaks); err != nil {
			return err
		}
	}
}

// A retry is the error of a try that changed nothing and may be repeated.
type retry struct {
	why refusal
	err error
	row []byte // for a conflict: the key of the row, or nil if it is unknown
}

// lasting returns the error that Update returns when it gives up after this retry.
func (r *retry) lasting() error {
	if errors.Is(r.err, store.ErrUnavailable) {
		return r.err
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, r.err)
}

func (r *retry) Error() string { return r.err.Error() }
func (r *retry) Unwrap() error { return r.err }

// An attempt holds the conditions for one run of an update.
type attempt struct {
	row       *expectation
	presume   bool   // it may presume that rows do not exist
	exclusive bool   // it holds the exclusive lock
	lost      []byte // if exclusive, the key of the row at which it lost, or nil
}

// try runs an update once. Unless the update holds the exclusive lock, try first waits until the process has a free
// place for it.
func (s *Store) try(ctx context.Context, fn func(store.Writer) error, a attempt) error {
	if err := s.ready(ctx); err != nil {
		return err
	}

	if !a.exclusive {
		if s.free.Acquire(ctx, 1) != nil {
			return context.Cause(ctx)
		}
		defer s.free.Release(1)
	}

	w := &writer{
		reader: reader{
			session: session{ctx: ctx, store: s, begin: beginUpdate, row: a.row, first: a.lost, exclusive: a.exclusive},
			changes: remote.NewChanges(),
		},
		presume: a.presume,
	}
	defer w.finish()
	err := fn(w)
	if err != nil || w.changes.Empty() {
		right, failed := w.presumedRight()
		switch {
		case failed != nil:
			err = failed
		case !right:
			return &retry{why: presumed, err: errPresumed}
		}
	}

	if failed := w.verify(); err == nil || errors.Is(failed, capability.ErrChanged) {
		err = failed
	}
	if fault := w.failure(); fault != nil { // even if fn ignores it
		if why := refusalOf(fault); why != final && ctx.Err() == nil {
			return &retry{why, fault, w.lostAt()}
		}
		if err == nil {
			err = fault
		}
	}
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return w.commit()
}

// failure returns what ended the transaction, or nil.
func (s *session) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

// backoff waits before another try. It waits longer after each try.
func backoff(ctx context.Context, tries int) error {
	d := time.Millisecond << min(tries, 9)
	t := time.NewTimer(d/2 + rand.N(d))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A background counts goroutines. Unlike a [sync.WaitGroup], it allows a goroutine to begin while Wait waits: a View
// that ends during Close returns its connection in the background.
type background struct {
	mu      sync.Mutex
	running int
	idle    chan struct{} // closed when the last goroutine ends; nil unless Wait waits
}

// Go runs fn in a goroutine.
func (b *background) Go(fn func()) {
	b.mu.Lock()
	b.running++
	b.mu.Unlock()
	go func() {
		defer b.end()
		fn()
	}()
}

func (b *background) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running--; b.running == 0 && b.idle != nil {
		close(b.idle)
		b.idle = nil
	}
}

// Wait waits until no goroutine runs.
func (b *background) Wait() {
	b.mu.Lock()
	if b.running > 0 && b.idle == nil {
		b.idle = make(chan struct{})
	}
	idle := b.idle
	b.mu.Unlock()
	if idle != nil {
		<-idle
	}
}

// Close implements [store.Store]. It waits for the running calls, so it must not be
// called inside one.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		<-s.shut
		return nil
	}
	defer close(s.shut)
	close(s.ending)
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	s.forget(ctx, s.ids.takeAll())
	s.background.Wait()
	s.pool.Close()
	s.limit.close()
	return nil
}

// healthTimeout limits a health check that gets no connection because all are in use: it succeeds only if the
// database has answered within this time.
const healthTimeout = 10 * time.Second

// Health implements [capability.HealthChecker], for probes of a server. It succeeds if the database answers. If all
// connections are in use, it succeeds if the database has answered a moment ago.
func (s *Store) Health(ctx context.Context) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	ping := &session{ctx: ctx, store: s, begin: beginNothing}
	defer ping.finish()
	err := ping.run(&step{statement: takeSnapshot})
	busy := ctx.Err() != nil || crowded(err)
	if busy && time.Since(time.Unix(0, s.heard.Load())) < healthTimeout {
		return nil
	}
	return err
}

// counts are for [Store.Stats].
type counts struct{ conflicts, broken, resolved atomic.Int64 }

// Stats are figures of a [Store] since it was opened, for monitoring.
type Stats struct {
	Conflicts int64 // attempts of Updates that lost to another Update
	Broken    int64 // attempts of Updates that lost their connection
	Resolved  int64 // commits that got no answer and were looked up
	Conns     int32 // open connections
	Busy      int32 // connections in use
	Waits     int64 // calls that had to wait for a connection
}

// Stats returns the current figures, for people and metrics.
func (s *Store) Stats() Stats {
	pool := s.pool.Stat()
	return Stats{
		Conflicts: s.counts.conflicts.Load(), Broken: s.counts.broken.Load(), Resolved: s.counts.resolved.Load(),
		Conns: pool.TotalConns(), Busy: pool.AcquiredConns(), Waits: pool.EmptyAcquireCount(),
	}
}
