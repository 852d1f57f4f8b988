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
	// Store holds the rows. Default: a new store of package store/memory. [DB.Close]
	// closes it. If [Open] fails, it stays open and the caller closes it.
	Store store.Store
	// Clock returns the current time. Default: time.Now.
	Clock func() time.Time
	// Rand is the source of ids, also of requests. Default: crypto/rand.Reader. A
	// seeded reader makes every id reproducible. It must be safe for concurrent use.
	Rand io.Reader
	// Logger receives internal errors, and a line for each operation that has waited for five
	// seconds for an [DB.Update], with the file and line of its caller. Default: discard.
	Logger *slog.Logger
	// Region and Account appear in the ARNs of tables. Default: "us-east-1" and
	// "000000000000".
	Region, Account string
	// StreamShards is the number of shards that new streams of tables have at a
	// time, each with a range of the partition keys, up to 1000. Default: 1.
	StreamShards int
	// S3Root is a folder whose folders are the S3 buckets that tables are exported
	// to and imported from. Exports, imports and bulk puts continue when their client hangs
	// up, and Open continues those that had not ended if it knows the folder and the program
	// imports package server. Default: none, so it has no buckets.
	S3Root string
	// SweepInterval is how often the database deletes expired items, and records
	// of streams that are older than 24 hours, in the background. Default: never; call
	// [DB.Sweep] instead. Forks use the same interval.
	SweepInterval time.Duration
	// Observer sees every request, whether it comes over HTTP or not. Default:
	// none.
	Observer Observer
	// Simulate makes the database as slow, as stale or as strict as the service can be, for
	// tests of code that has to cope with that. By default, it does none of this.
	Simulate Simulation

	temporary bool // withDefaults opened Store, in memory, so nobody else has it
}

// handle leads the packages of this module to the database, without a field that programs see.
type handle = engine.Handle

// A DB is an open database. [Open] returns it, and [Table] an API for one of its tables. It is safe for concurrent use.
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
