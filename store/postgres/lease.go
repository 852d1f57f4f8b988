package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/sortkey/sortkey/store"
)

// A lease is a row that expires by the database's clock unless its holder renews it. The holder measures the same
// time with its own clock, from before it sends a renewal, and stops earlier. If the holder was paused, it and its
// successor may both work for a moment. So a lease saves work, but its holder must not rely on being the only one.

// The holder renews a lease every 1/renewals of the time for which the lease is valid. It stops its work 1/margin of
// that time before the lease ends.
const (
	renewals = 3
	margin   = 5
)

var errLease = errors.New("postgres: the lease is lost")

func ownName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s, process %d", host, os.Getpid())
}

// Lease implements [capability.Sharer], for background work that only one server should do at a time.
func (s *Store) Lease(ctx context.Context, name string) (held context.Context, release func(), err error) {
	if err := s.ready(ctx); err != nil {
		return nil, nil, err
	}

	owner := make([]byte, 16)
	_, _ = rand.Read(owner) // never fails
	sent := time.Now()
	length := int8Param(int(s.opts.lease.Milliseconds()))
	taken, err := s.exec(
		ctx, &step{statement: takeLease, params: [][]byte{[]byte(name), owner, []byte(s.opts.Name), length}},
	)
	if err != nil || taken == 0 {
		return nil, nil, err
	}

	held, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	renew := &step{statement: renewLease, params: [][]byte{[]byte(name), owner, length}}
	s.background.Go(func() {
		defer close(done)
		err := s.keep(held, renew, sent)
		if errors.Is(err, errLease) {
			s.opts.Logger.Warn("lost a lease; another server takes over", "lease", name, "err", err)
		}
		if err != nil {
			cancel(err)
		}
	})

	return held, func() {
		cancel(nil)
		<-done
		if cause := context.Cause(held); errors.Is(cause, errLease) || errors.Is(cause, store.ErrClosed) {
			return // another Store has it, or it expires in a moment
		}
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), s.opts.lease/renewals)
		defer stop()
		if _, err := s.exec(ctx, &step{statement: endLease, params: [][]byte{[]byte(name), owner}}); err != nil {
			s.opts.Logger.Warn("cannot give a lease back; it expires by itself", "lease", name, "err", err)
		}
	}, nil
}

// keep renews a lease until ctx ends, and then returns nil. It returns an error if the lease is lost or the store is
// closed before.
func (s *Store) keep(ctx context.Context, renew *step, sent time.Time) error {
	length := s.opts.lease
	until := sent.Add(length - length/margin)
	for {
		t := time.NewTimer(min(length/renewals, time.Until(until)))
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil
		case <-s.ending:
			t.Stop()
			return store.ErrClosed
		}

		sent := time.Now()
		limited, stop := context.WithDeadline(ctx, until)
		kept, err := s.exec(limited, renew)
		stop()
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil && kept == 0:
			return errLease
		case err == nil:
			until = sent.Add(length - length/margin)
		case !time.Now().Before(until):
			return fmt.Errorf("%w: %w", errLease, err)
		}
	}
}

// exec runs one statement and returns the number of its rows.
func (s *Store) exec(ctx context.Context, one *step) (rows int64, err error) {
	conn, err := s.acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Release()
	_, err = s.send(ctx, conn, []*step{one})
	return one.rows, err
}
