package tikv

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tikv/client-go/v2/config"
	"github.com/tikv/client-go/v2/oracle"
	"github.com/tikv/client-go/v2/tikv"
	pd "github.com/tikv/pd/client"
	"golang.org/x/sync/semaphore"

	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/internal/remote"
)

// A Store keeps rows in a cluster. [Open] returns it. It is safe for concurrent use.
type Store struct {
	opts    Options
	client  *tikv.KVStore
	keys    keyspace
	lease   *lease
	updates *semaphore.Weighted // an Update takes 1 of maxRunning, and an Update that runs alone takes all

	background sync.WaitGroup // rollbacks
	mu         sync.Mutex
	running    int // calls
	closed     bool
	idle       chan struct{} // closed when the last call of a closed Store ends
	shut       chan struct{} // closed when Close is done
	counts     counts
}

// Stats are figures of a [Store] since it was opened, for monitoring.
type Stats struct {
	// Running is the number of calls in progress.
	Running int
	// Conflicts is the number of attempts of Updates that lost to another Update and were repeated.
	Conflicts int64
	// Refused is the number of attempts of Updates that the cluster did not commit for another reason, and that were
	// repeated.
	Refused int64
	// Resolved is the number of commits that got no answer and were looked up.
	Resolved int64
}

// Stats returns the current figures. It works on a closed Store too.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	running := s.running
	s.mu.Unlock()
	return Stats{
		Running: running, Conflicts: s.counts.conflicts.Load(), Refused: s.counts.refused.Load(),
		Resolved: s.counts.resolved.Load(),
	}
}

// counts are the numbers of events that [Stats] reports.
type counts struct{ conflicts, refused, resolved atomic.Int64 }

var (
	_ capability.Getter       = (*Store)(nil)
	_ capability.ClearLimiter = (*Store)(nil)
)

// Open opens the tables with a prefix in a cluster, and creates them if there are none. The endpoints are the
// addresses of the placement drivers (PD), as host:port. The cluster must use version 1 of the API
// (storage.api-version), the default. Ctx limits only the call of Open.
//
// Open takes the lease on the tables. If a server has died without returning it, Open waits until the lease expires,
// for a few seconds. Errors: [ErrLocked], [ErrFormat], and errors of the client. When no placement driver answers,
// Open fails after ten seconds and leaves a few goroutines of the client behind, which cannot be closed.
func Open(ctx context.Context, endpoints []string, opts Options) (*Store, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	client, err := connect(ctx, endpoints, opts)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	}
	return open(ctx, client, opts)
}

// OpenClient is [Open] with a client that the program has made, such as that of a mock cluster, or one with its own
// connections. The Store closes the client, even when OpenClient fails. The options for TLS have no effect.
func OpenClient(ctx context.Context, client *tikv.KVStore, opts Options) (*Store, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return open(ctx, client, opts)
}

// connect creates a client as the client's own constructor does. It uses the options of a Store, while the
// constructor uses options of the whole process. It waits for at most connectTimeout.
func connect(ctx context.Context, endpoints []string, opts Options) (*tikv.KVStore, error) {
	if len(endpoints) == 0 {
		return nil, errors.New("tikv: no addresses of placement drivers")
	}
	for _, file := range []string{opts.CA, opts.Cert, opts.Key} {
		if _, err := os.Stat(file); file != "" && err != nil {
			return nil, wrap(err)
		}
	}
	opening, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()

	// The client of the placement drivers ends when its context ends. So give it a context that outlives connect,
	// unless connect fails.
	living, end := context.WithCancel(context.WithoutCancel(ctx))
	opened := context.AfterFunc(opening, end)
	client, err := dial(living, endpoints, opts)
	switch {
	case err == nil && opened():
		return client, nil
	case err == nil:
		err = errors.Join(context.Cause(opening), client.Close())
	}
	end()
	if opening.Err() != nil {
		return nil, fmt.Errorf("%w at %s: %w", errUnreachable, strings.Join(endpoints, ", "), err)
	}
	return nil, wrap(err)
}

// dial returns a client of the cluster. The client stops when ctx ends.
func dial(ctx context.Context, endpoints []string, opts Options) (*tikv.KVStore, error) {
	security := config.NewSecurity(opts.CA, opts.Cert, opts.Key, nil)
	tls, err := security.ToTLSConfig()
	if err != nil {
		return nil, err
	}
	plain, err := pd.NewClientWithContext(
		ctx, endpoints, pd.SecurityOption{CAPath: opts.CA, CertPath: opts.Cert, KeyPath: opts.Key},
	)
	if err != nil {
		return nil, err
	}
	coded := tikv.NewCodecPDClient(tikv.ModeTxn, plain)
	safe, err := tikv.NewEtcdSafePointKV(endpoints, tls)
	if err != nil {
		coded.Close()
		return nil, err
	}
	id := fmt.Sprintf("tikv-%d", coded.GetClusterID(ctx))
	rpc := tikv.NewRPCClient(tikv.WithSecurity(security), tikv.WithCodec(coded.GetCodec()))
	return tikv.NewKVStore(id, coded, safe, rpc)
}

// open opens the tables with a client, which the Store closes.
func open(ctx context.Context, client *tikv.KVStore, opts Options) (*Store, error) {
	s := &Store{
		opts: opts, client: client, keys: newKeyspace(opts.Prefix), updates: semaphore.NewWeighted(maxRunning),
		idle: make(chan struct{}), shut: make(chan struct{}),
	}
	var err error
	if s.lease, err = takeLease(ctx, s); err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return s, nil
}

// enter counts a call, which must end with leave.
func (s *Store) enter(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return store.ErrClosed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	s.running++
	return nil
}

func (s *Store) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running--; s.closed && s.running == 0 {
		close(s.idle)
	}
}

// timestamp gets a new timestamp from the cluster.
func (s *Store) timestamp(ctx context.Context) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	return s.client.GetTimestampWithRetry(s.backoffer(ctx), oracle.GlobalTxnScope)
}

// now returns a new timestamp, or an error if the lease ends before it.
func (s *Store) now(ctx context.Context) (uint64, error) {
	ts, err := s.timestamp(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case err != nil:
		return 0, wrap(err)
	}
	return ts, s.lease.covers(ctx, ts)
}

// View implements [store.Store]. It reads as of one timestamp of the cluster.
func (s *Store) View(ctx context.Context, fn func(store.Reader) error) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	ts, err := s.now(ctx)
	if err != nil {
		return err
	}
	r := &reader{ctx: ctx, store: s, ts: ts}
	defer r.done.Store(true)
	return fn(r)
}

// Get implements [capability.Getter] in one round trip, without a timestamp.
func (s *Store) Get(ctx context.Context, space store.Space, partition, sort []byte) (value []byte, ok bool, err error) {
	if err := s.enter(ctx); err != nil {
		return nil, false, err
	}
	defer s.leave()
	if err := s.lease.valid(ctx); err != nil {
		return nil, false, err
	}
	r := &reader{ctx: ctx, store: s, ts: math.MaxUint64}
	return r.get(address.Append(nil, space, partition, sort))
}

// ClearLimit implements [capability.ClearLimiter]. A thousand items of the greatest size have about 400 MB. The
// Update that deletes them reads them twice, but keeps only their keys in memory.
func (s *Store) ClearLimit() int { return 1000 }

// Update implements [store.Store]. It calls fn again, a limited number of times, after a conflict with another Update
// and when the cluster has refused the commit.
func (s *Store) Update(ctx context.Context, fn func(store.Writer) error) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	for lost, aborted := 0, 0; ; {
		err := s.try(ctx, fn, lost >= aloneAfter)
		again, ok := errors.AsType[*retry](err)
		if !ok {
			return err
		}
		if again.conflict {
			lost++
			s.counts.conflicts.Add(1)
		} else {
			aborted++
			s.counts.refused.Add(1)
			s.opts.Logger.Warn("the cluster did not commit an update; trying again", "err", again.err)
		}

		if lost+aborted >= maxTries || aborted >= maxAborted {
			return again.err
		}
		if err := backoff(ctx, lost+aborted); err != nil {
			return err
		}
	}
}

// A retry is the error of a try that changed nothing and may be repeated.
type retry struct {
	conflict bool
	err      error
}

func (r *retry) Error() string { return r.err.Error() }
func (r *retry) Unwrap() error { return r.err }

// try runs an update once.
func (s *Store) try(ctx context.Context, fn func(store.Writer) error, alone bool) error {
	share := int64(1)
	if alone {
		share = maxRunning
	}
	if s.updates.Acquire(ctx, share) != nil {
		return context.Cause(ctx)
	}
	defer s.updates.Release(share)
	w := &writer{reader: reader{ctx: ctx, store: s}, changes: remote.NewChanges()}
	w.reader.writer = w
	defer w.finish()
	if err := w.begin(); err != nil {
		return err
	}

	err := fn(w)
	switch {
	case w.fault != nil && conflicts(w.fault) && ctx.Err() == nil: // even if fn ignores it
		return &retry{true, w.fault}
	case err != nil:
		return err
	case w.fault != nil:
		return w.fault
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return w.commit()
}

// backoff waits before another try. It waits longer after each try.
func backoff(ctx context.Context, tries int) error {
	d := time.Millisecond << min(tries, 9)
	return sleep(ctx, d/2+rand.N(d))
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close implements [store.Store]. It waits for the running calls, so it must not be
// called inside one, and gives the lease back.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		<-s.shut
		return nil
	}
	s.closed = true
	if s.running == 0 {
		close(s.idle)
	}
	s.mu.Unlock()
	defer close(s.shut)
	<-s.idle
	s.background.Wait()
	s.lease.end()
	return s.client.Close()
}
