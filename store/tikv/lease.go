package tikv

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/oracle"
	"github.com/tikv/client-go/v2/tikv"
)

// A lease is the right to use the tables up to a time of the cluster's clock, which also makes the timestamps of
// transactions. After that time the Store neither reads nor commits, whatever its own clock says. Another Store takes
// the lease only at a later timestamp. So a Store that was paused cannot commit an Update after its successor has
// begun.
type lease struct {
	store *Store
	owner string

	until atomic.Int64 // milliseconds of the cluster's clock
	local atomic.Int64 // nanoseconds since began; limits reads without a timestamp
	began time.Time
	lost  atomic.Bool // another Store has it

	stop context.CancelFunc
	done chan struct{}
}

// leaseRow is the value stored under the key of the lease.
type leaseRow struct {
	Format int    `json:"format"`
	Owner  string `json:"owner"`
	Name   string `json:"name"`
	Until  int64  `json:"until"`
}

// format is the version of keys and values. Version 1, with a longer form of items, was never released and is
// refused.
const format = 2

// The Store renews the lease every 1/renewals of the time for which the lease is valid. Reads without a timestamp use
// the machine's clock. So that they do not outlive the lease, they stop 1/margin of that time before its end.
const (
	renewals = 3
	margin   = 5
)

var errHeld = errors.New("tikv: the lease is another server's")

// takeLease takes the lease. If another Store has the lease, takeLease waits until it expires. It returns [ErrLocked]
// if that Store renews it.
func takeLease(ctx context.Context, s *Store) (*lease, error) {
	l := &lease{store: s, owner: rand.Text(), began: time.Now(), done: make(chan struct{})}
	var first leaseRow
	for {
		held, err := l.extend(ctx, true)
		if err == nil {
			break
		}
		if !errors.Is(err, errHeld) {
			return nil, err
		}

		switch {
		case first == leaseRow{}:
			first = held
			s.opts.Logger.Info(
				"waiting for the lease of another server to be renewed or to expire", "holder", held.Name,
			)
		case held != first:
			return nil, fmt.Errorf("%w: %s", ErrLocked, held.Name)
		}

		if err := sleep(ctx, s.opts.lease/(4*renewals)); err != nil {
			return nil, err
		}
	}

	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	go l.renew(renewing)
	return l, nil
}

// extend takes or renews the lease. If take is set, it also takes the lease of another Store that has expired.
func (l *lease) extend(ctx context.Context, take bool) (held leaseRow, err error) {
	sent := time.Now()
	var until int64
	held, err = l.write(ctx, func(held leaseRow, now int64) (leaseRow, error) {
		switch {
		case held.Format != format && held.Format != 0:
			return held, fmt.Errorf("%w: format %d, want %d; export the tables with the program that wrote them, and "+
				"import them into another cluster", ErrFormat, held.Format, format)
		case held.Owner != l.owner && (!take || held.Until > now):
			return held, errHeld
		}
		until = now + l.store.opts.lease.Milliseconds()
		return leaseRow{format, l.owner, l.store.opts.Name, until}, nil
	})
	if err == nil {
		l.until.Store(until)
		l.local.Store(int64(sent.Sub(l.began) + l.store.opts.lease - l.store.opts.lease/margin))
	}
	return held, err
}

// write changes the row of the lease in a transaction. It returns the row from before the change.
func (l *lease) write(
	ctx context.Context, change func(held leaseRow, now int64) (leaseRow, error),
) (held leaseRow, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.store.opts.Timeout)
	defer cancel()
	for tries := 1; ; tries++ {
		held, err = l.writeOnce(ctx, change)
		if !conflicts(err) {
			return held, err
		}
		if err := backoff(ctx, tries); err != nil {
			return held, err
		}
	}
}

func (l *lease) writeOnce(
	ctx context.Context, change func(held leaseRow, now int64) (leaseRow, error),
) (held leaseRow, err error) {
	ts, err := l.store.timestamp(ctx)
	if err != nil {
		return held, wrap(err)
	}

	txn, err := l.store.client.Begin(tikv.WithStartTS(ts))
	if err != nil {
		return held, wrap(err)
	}
	defer func() {
		if txn.Valid() {
			_ = txn.Rollback()
		}
	}()

	stored, err := txn.Get(ctx, l.store.keys.leaseKey)
	if err != nil && !tikverr.IsErrNotFound(err) {
		return held, wrap(err)
	}
	if err == nil {
		if err := json.Unmarshal(stored, &held); err != nil {
			return held, fmt.Errorf("%w: cannot decode the lease: %w", ErrFormat, err)
		}
	}

	next, err := change(held, oracle.ExtractPhysical(ts))
	if err != nil {
		return held, err
	}
	if stored, err = json.Marshal(next); err != nil {
		return held, err
	}
	if err := txn.Set(l.store.keys.leaseKey, stored); err != nil {
		return held, wrap(err)
	}
	if err := txn.Commit(ctx); err != nil {
		return held, wrap(err)
	}
	return held, nil
}

// covers returns an error unless the Store may read and commit at a timestamp. If the caller's context has ended,
// covers returns the cause, because the end of the context may be why the call took so long. Otherwise it returns
// [ErrLease].
func (l *lease) covers(ctx context.Context, ts uint64) error {
	switch {
	case l.lost.Load():
		return refusal(ctx, "another server has taken it")
	case oracle.ExtractPhysical(ts) >= l.until.Load():
		return refusal(ctx, "the cluster did not answer in time")
	}
	return nil
}

// valid returns an error unless the Store may read without a timestamp. It returns the same errors as covers, but
// uses the clock of this machine.
func (l *lease) valid(ctx context.Context) error {
	if int64(time.Since(l.began)) > l.local.Load() {
		return refusal(ctx, "the cluster did not answer in time")
	}
	return l.covers(ctx, 0)
}

func refusal(ctx context.Context, why string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %s", ErrLease, why)
}

// renew renews the lease until ctx ends or the lease is lost.
func (l *lease) renew(ctx context.Context) {
	defer close(l.done)
	every := l.store.opts.lease / renewals
	for sleep(ctx, every) == nil {
		limited, cancel := context.WithTimeout(ctx, every)
		_, err := l.extend(limited, false)
		cancel()
		switch {
		case errors.Is(err, errHeld):
			l.lost.Store(true)
			l.store.opts.Logger.Error("another server has taken the lease; this one refuses requests")
			return
		case err != nil && ctx.Err() == nil:
			l.store.opts.Logger.Warn("cannot renew the lease", "err", err)
		}
	}
}

// end gives the lease back.
func (l *lease) end() {
	l.stop()
	<-l.done
	ctx, cancel := context.WithTimeout(context.Background(), l.store.opts.lease/renewals)
	defer cancel()
	_, err := l.write(ctx, func(held leaseRow, _ int64) (leaseRow, error) {
		if held.Owner != l.owner {
			return held, errHeld
		}
		return leaseRow{Format: format}, nil
	})
	if err != nil && !errors.Is(err, errHeld) {
		l.store.opts.Logger.Warn("cannot give the lease back; it expires by itself", "err", err)
	}
}
