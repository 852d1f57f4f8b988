package sortkey

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/store"
)

// Options configure [Open]. The zero value is ready to use.
type Options struct {
	// Store holds the rows. Default: a new store of package store/memory. [DB.Close] closes the store. If [Open]
	// fails, the store stays open, and the caller closes it.
	Store store.Store
	// Clock returns the current time. Default: time.Now.
	Clock func() time.Time
	// Rand is the source of randomness for ids, including request ids. Default: crypto/rand.Reader. A seeded reader
	// makes every id reproducible. It must be safe for concurrent use.
	Rand io.Reader
	// Logger receives internal errors. If an operation has waited for five seconds for a [DB.Update] to end, Logger
	// also receives a line with the file and line of the caller. Default: discard.
	Logger *slog.Logger
	// Region and Account appear in the ARNs of tables. Default: "us-east-1" and
	// "000000000000".
	Region, Account string
	// StreamShards is the number of open shards of each new stream, up to 1000. Each shard has a range of the
	// partition keys. Default: 1.
	StreamShards int
	// S3Root is a folder. Each folder in it is an S3 bucket for exports and imports of tables. Exports, imports and
	// bulk puts continue when their client hangs up. Open continues unfinished ones if S3Root is the same folder and
	// the program imports package server. Default: no buckets.
	S3Root string
	// SweepInterval is how often the database deletes expired items, and records
	// of streams that are older than 24 hours, in the background. Default: never; call
	// [DB.Sweep] instead. Forks use the same interval.
	SweepInterval time.Duration
	// Observer sees every request, whether it comes over HTTP or not. Default:
	// none.
	Observer Observer
	// Simulate makes the database as slow, as stale or as strict as DynamoDB can be, for tests of code that must cope
	// with such behaviour. Default: the database simulates nothing.
	Simulate Simulation

	temporary bool // withDefaults opened Store in memory, so no other code can use it
}

// handle lets the other packages of this module reach the internals of a DB, without an exported field.
type handle = engine.Handle

// A DB is an open database. [Open] returns it, and [Table] returns an API for one of its tables. It is safe for
// concurrent use.
type DB struct {
	handle
	opts    Options
	store   store.Store
	tables  *life.DB
	service *api.Service
	cancel  context.CancelFunc // ends the background work
	closing atomic.Bool        // Close has been called
	running sync.WaitGroup     // the background work
}
