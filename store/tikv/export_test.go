package tikv

import (
	"context"
	"errors"
	"time"

	"github.com/tikv/client-go/v2/tikv"
)

// OpenClient is Open with a client, which the Store closes.
func OpenClient(ctx context.Context, client *tikv.KVStore, opts Options) (*Store, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return open(ctx, client, opts)
}

// WithLease returns options with another time of the lease.
func (o Options) WithLease(d time.Duration) Options {
	o.lease = d
	return o
}

// Counts are what a Store has met so far.
func (s *Store) Counts() (conflicts, aborted, resolved int64) {
	return s.counts.conflicts.Load(), s.counts.aborted.Load(), s.counts.resolved.Load()
}

var ErrTooLarge = errTooLarge
