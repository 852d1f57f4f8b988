package tikv

import "time"

// WithLease returns options with another duration of the lease.
func (o Options) WithLease(d time.Duration) Options {
	o.lease = d
	return o
}

var ErrTooLarge = errTooLarge
