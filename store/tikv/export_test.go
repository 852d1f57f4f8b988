package tikv

import "time"

// WithLease returns options with another time of the lease.
func (o Options) WithLease(d time.Duration) Options {
	o.lease = d
	return o
}

var ErrTooLarge = errTooLarge
