package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// A lease is the right to use the tables. The row in the database expires by the
// database's clock unless it is renewed. The Store measures the same time with its
// own clock from before each renewal, and stops earlier.
type lease struct {
	opts   Options
	config *pgx.ConnConfig
	owner  []byte
	conn   *pgx.Conn // of its own: a full pool must not delay a renewal

	until atomic.Int64 // nanoseconds since began; calls are refused afterwards
	began time.Time
	lost  atomic.Bool // another Store has it

	stop context.CancelFunc
	done chan struct{}
}

// renewals is how often the lease is renewed in its time, and margin the part of
// the time, in parts of it, that the Store stops early.
const (
	renewals = 3
	margin   = 5
)

func ownName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s, process %d", host, os.Getpid())
}

// takeLeaseOf takes the lease, waits for one that is not renewed, or returns
// [ErrLocked].
func takeLeaseOf(ctx context.Context, config *pgx.ConnConfig, opts Options) (_ *lease, err error) {
	l := &lease{opts: opts, config: config, owner: make([]byte, 16), began: time.Now(), done: make(chan struct{})}
	_, _ = rand.Read(l.owner) // never fails
	if l.conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return nil, wrap(err)
	}
	defer func() {
		if err != nil {
			_ = l.conn.Close(context.WithoutCancel(ctx))
		}
	}()
	var holder []byte
	var beat int64
	for {
		sent := time.Now()
		tag, err := l.conn.Exec(ctx, takeLease, l.owner, opts.Name, opts.lease.Milliseconds())
		if err != nil {
			return nil, wrap(err)
		}
		if tag.RowsAffected() == 1 {
			l.renewed(sent)
			break
		}
		var owner []byte
		var name string
		var now int64
		err = l.conn.QueryRow(ctx, selectLease).Scan(&owner, &now, &name)
		if errors.Is(err, pgx.ErrNoRows) {
			continue // given back meanwhile
		}
		if err != nil {
			return nil, wrap(err)
		}
		if holder != nil && (string(owner) != string(holder) || now != beat) {
			return nil, fmt.Errorf("%w: %s", ErrLocked, name)
		}
		if holder == nil {
			opts.Logger.Info("waiting for the lease of another server to be renewed or to expire", "holder", name)
		}
		holder, beat = owner, now
		if err := sleep(ctx, opts.lease/(4*renewals)); err != nil {
			return nil, err
		}
	}
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	go l.renew(renewing)
	return l, nil
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

// renewed notes a renewal that was sent at a time.
func (l *lease) renewed(sent time.Time) {
	l.until.Store(int64(sent.Sub(l.began) + l.opts.lease - l.opts.lease/margin))
}

// valid returns [ErrLease] unless the Store may use the tables.
func (l *lease) valid() error {
	switch {
	case l.lost.Load():
		return fmt.Errorf("%w: another server has taken it", ErrLease)
	case int64(time.Since(l.began)) > l.until.Load():
		return fmt.Errorf("%w: the database did not answer in time", ErrLease)
	}
	return nil
}

// renew renews the lease until ctx ends or the lease is lost.
func (l *lease) renew(ctx context.Context) {
	defer close(l.done)
	for sleep(ctx, l.opts.lease/renewals) == nil {
		if err := l.renewOnce(ctx); err != nil && ctx.Err() == nil {
			l.opts.Logger.Warn("cannot renew the lease", "err", err)
		}
		if l.lost.Load() {
			l.opts.Logger.Error("another server has taken the lease; this one refuses requests")
			return
		}
	}
}

func (l *lease) renewOnce(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, l.opts.lease/renewals)
	defer cancel()
	if l.conn.IsClosed() {
		conn, err := pgx.ConnectConfig(ctx, l.config)
		if err != nil {
			return err
		}
		l.conn = conn
	}
	sent := time.Now()
	tag, err := l.conn.Exec(ctx, renewLease, l.owner, l.opts.lease.Milliseconds())
	if err != nil {
		return err
	}
	if tag.RowsAffected() == 0 {
		l.lost.Store(true)
		return nil
	}
	l.renewed(sent)
	return nil
}

// end gives the lease back.
func (l *lease) end() {
	l.stop()
	<-l.done
	ctx, cancel := context.WithTimeout(context.Background(), l.opts.lease/renewals)
	defer cancel()
	if l.conn.IsClosed() {
		if conn, err := pgx.ConnectConfig(ctx, l.config); err == nil {
			l.conn = conn
		}
	}
	if _, err := l.conn.Exec(ctx, endLease, l.owner); err != nil {
		l.opts.Logger.Warn("cannot give the lease back; it expires by itself", "err", err)
	}
	_ = l.conn.Close(ctx)
}
