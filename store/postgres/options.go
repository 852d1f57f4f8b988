package postgres

import (
	"log/slog"
	"time"
)

// Options configure [Open]. The zero value is ready to use.
type Options struct {
	// MaxConns limits the connections of the pool. Default: pool_max_conns of the URL, or 20. Open raises it to 4 if
	// it is less.
	MaxConns int

	// Timeout limits one round trip to the database, one wait for a free connection, and the time for which an Update
	// that loses to others is repeated. Default: 30 s.
	Timeout time.Duration

	// Name names the holder of a lease, for people who look at the tables. Default: host and process.
	Name string

	// Logger receives lost connections, commits that got no answer, and lost leases. Default: discard.
	Logger *slog.Logger

	// lease is how long a lease is valid without renewal. Default: 15 s.
	lease time.Duration
}

const (
	defaultConns = 20

	// leastConns is enough for an update: its commit may have to wait until a View takes its snapshot, and that needs
	// another connection.
	leastConns = 4

	// idleTime is how long a connection may be idle before the pool closes it, so that another server can have one.
	idleTime = 30 * time.Second

	defaultTimeout = 30 * time.Second
	defaultLease   = 15 * time.Second

	// maxUpdate is the size of the largest update in bytes. One round trip sends about pipelineBytes or pipelineRows
	// of it.
	maxUpdate     = 1 << 30
	pipelineBytes = 4 << 20
	pipelineRows  = 1000

	// closeTimeout limits how long Close waits for the database while it cleans up.
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
