package postgres

import (
	"log/slog"
	"time"
)

// Options configure [Open]. The zero value is ready to use.
type Options struct {
	// MaxConns limits the connections of the pool.
	// Default: pool_max_conns of the URL, or 20. The least is 4.
	MaxConns int

	// Timeout limits the time of one round trip to the database, of waiting for a
	// free connection, and of the repetitions of an Update that loses to others.
	// Default: 30 s.
	Timeout time.Duration

	// Name says to people who holds a lease. Default: host and process.
	Name string

	// Logger receives lost connections, retries and leases. Default: discard.
	Logger *slog.Logger

	// lease is how long a lease is valid without renewal. Default: 15 s.
	lease time.Duration
}

const (
	defaultConns = 20

	// leastConns are enough for an update whose commit has to wait for the snapshot of
	// a View, which needs another connection.
	leastConns = 4

	// idleTime is after how long an idle connection goes back to the database, where
	// another server may need it.
	idleTime = 30 * time.Second

	defaultTimeout = 30 * time.Second
	defaultLease   = 15 * time.Second

	// maxUpdate is the size of the largest update in bytes, and pipelineBytes and
	// pipelineRows what is sent of it in one round trip.
	maxUpdate     = 1 << 30
	pipelineBytes = 4 << 20
	pipelineRows  = 1000

	// closeTimeout limits how long Close tidies up in a database that does not answer.
	closeTimeout = 5 * time.Second

	// After exclusiveAfter conflicts an Update queues for the exclusive lock.
	exclusiveAfter = 3
)

func (o Options) withDefaults() Options {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.lease <= 0 {
		o.lease = defaultLease
	}
	if o.Name == "" {
		o.Name = ownName()
	}
	return o
}
