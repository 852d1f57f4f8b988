// Package sortkey is an embedded ordered key-value store that answers like
// DynamoDB.
//
// [Open] opens a [DB], in memory unless [Options] name another store. [DB.CreateTable] makes a
// table, and [Table] returns its face for structs of a program:
//
//	songs := sortkey.Table[Song](db, "Music")
//	err := songs.Put(ctx, Song{Artist: "Nina", Title: "Sinnerman"})
//	song, err := songs.Get(ctx, "Nina", "Sinnerman")
//	for song, err := range songs.Query(ctx, "Nina", sortkey.BeginsWith("S")) { … }
//
// [DB.Update] and [DB.View] make transactions of such operations, and [TableOf.Changes] is the
// stream of a table. An item, a condition, an index or an error is what it is in DynamoDB, so
// a program moves to the service, and back, with its keys and structs.
//
// The other faces stand beside this one, on the same database: package server speaks HTTP,
// package sdk returns real clients of the AWS SDK, and package sortkeytest opens a database
// for a test.
package sortkey

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/seeded"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
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
	// up, and Open continues those that had not ended if it knows the folder. Default:
	// none, so it has no buckets.
	S3Root string
	// Kinesis gets the changes of tables with an active Kinesis destination: the ARN
	// of the stream and the data of the record, in JSON as the service sends it. It
	// is called after the write is applied and before it is answered, by several
	// goroutines at a time. Changes of one item that are made at the same time may
	// come in another order, as in the service, and a crash may lose the last ones;
	// the stream of the table has them all. Default: nothing is delivered.
	Kinesis func(streamARN string, record []byte)
	// SweepInterval is how often the database deletes expired items, and records
	// of streams that are older than 24 hours, in the background. Default: never; call
	// [DB.Sweep] instead. Forks use the same interval.
	SweepInterval time.Duration
	// Wording is the wording of error messages. Default: [WordingOctober2026].
	Wording Wording
	// Observer sees every request, whether it comes over HTTP or not. Default:
	// none.
	Observer Observer
	// Simulate makes the database as slow, as stale or as strict as the service can be, for
	// tests of what copes with that. Default: it is none of these.
	Simulate Simulation

	temporary bool // withDefaults opened Store, in memory, so nobody else has it
}

// A Simulation says which trouble of the service a database simulates. Forks have the same.
type Simulation struct {
	// TableDelay is how long tables and global indexes are CREATING, UPDATING and
	// DELETING, on the clock of the database, so that programs that do not wait for
	// them fail. Default: 0, so they can be used at once.
	TableDelay time.Duration
	// StaleReads make eventually consistent reads miss recent changes. Default:
	// they see every change.
	StaleReads StaleReads
	// EnforceThroughput throttles requests as the service does, on the clock of the
	// database: by the provisioned throughput, or the maximum of on-demand
	// throughput, of tables and global indexes, of which 300 seconds can be saved
	// up; and by what one partition key value can take, 3,000 read units and 1,000
	// write units a second. Default: any request is answered.
	EnforceThroughput bool
	// TransactionDelay is how long a transaction that writes holds its items before
	// it is applied, in real time or in the time of a testing/synctest bubble.
	// Meanwhile other writes of the items, and transactions with them, fail as in the
	// service. Default: 0, so transactions never conflict.
	TransactionDelay time.Duration
}

// A Wording is the wording of the service's error messages at a date. During
// 2026 the service changed the wording operation by operation and region by
// region, so messages may differ from those of your region in either wording.
// Exceptions and their codes are the same.
type Wording = wire.Wording

const (
	// WordingOctober2026 is the wording of most regions on 2026-10-20: refusals
	// of PutItem, UpdateItem and DeleteItem begin with "1 validation error
	// detected: ".
	WordingOctober2026 = wire.WordingOctober
	// WordingMay2026 is the wording before that change.
	WordingMay2026 = wire.WordingMay
)

// A DB is an open database. It is safe for concurrent use.
type DB struct {
	opts    Options
	store   store.Store
	tables  *life.DB
	service *api.Service
	ids     func() string      // of responses
	cancel  context.CancelFunc // ends the background work
	closing atomic.Bool        // Close has been called
	running sync.WaitGroup     // the background work
}

// ErrFork is returned by [DB.Fork] when the store cannot be forked.
var ErrFork = errors.New("sortkey: store does not support Fork")

// ErrSnapshot is returned by [DB.Snapshot] when the store cannot be copied to a
// folder.
var ErrSnapshot = errors.New("sortkey: store does not support Snapshot (stores of package store/disk do)")

// Open opens a database. Close it after use. After an error there is nothing to close but
// the store, if [Options] name one. Open reads no items, so its time
// does not depend on the size of the store. After a crash it repairs tables in
// the background: an index whose building was interrupted can be read once
// DescribeTable reports it ACTIVE, and DescribeTable reports the counts of the
// last Close until the items have been counted again.
func Open(opts Options) (*DB, error) {
	opts = opts.withDefaults()
	tables, err := life.Open(context.Background(), opts.Store)
	if err != nil {
		return nil, err
	}
	if err := opts.lag(tables); err != nil {
		return nil, err
	}
	return newDB(opts, opts.Store, tables, false), nil
}

func (o Options) withDefaults() Options {
	if o.Store == nil {
		o.Store, o.temporary = memory.Open(), true
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func newDB(opts Options, st store.Store, tables *life.DB, forked bool) *DB {
	tables.Clock, tables.Delay, tables.Temporary = opts.Clock, opts.Simulate.TableDelay, opts.temporary
	tables.Logger = opts.Logger
	db := &DB{opts: opts, store: st, tables: tables}
	db.service = api.New(tables, api.Options{
		Clock: opts.Clock, Rand: opts.Rand, Logger: opts.Logger, Observer: observe(opts.Observer), Region: opts.Region,
		Account:      opts.Account,
		StreamShards: opts.StreamShards, S3Root: opts.S3Root, Kinesis: opts.Kinesis, Wording: opts.Wording,
		EnforceThroughput: opts.Simulate.EnforceThroughput, TransactionDelay: opts.Simulate.TransactionDelay,
	})
	var seed [32]byte
	_, _ = io.ReadFull(opts.Rand, seed[:]) // an operation that needs an id reports the error
	db.ids = seeded.RequestIDs(seed)
	ctx, cancel := context.WithCancel(context.Background())
	db.cancel = cancel
	switch {
	case tables.Shared():
		db.running.Go(func() { db.tend(ctx) })
	case !tables.Recovered():
		db.running.Go(func() { db.recover(ctx) })
	}
	if !tables.Shared() && (opts.S3Root != "" || !opts.temporary) { // otherwise there are no jobs
		db.running.Go(func() { db.resumeJobs(ctx, forked) })
	}
	if opts.SweepInterval > 0 {
		db.running.Go(func() { db.sweepEvery(ctx, opts.SweepInterval) })
	}
	return db
}

// recover completes work that was interrupted when the database was closed or
// crashed.
func (db *DB) recover(ctx context.Context) {
	if err := db.tables.Recover(ctx); err != nil && ctx.Err() == nil {
		db.opts.Logger.Error("recovery of tables failed; the next Open tries again", "error", err)
	}
}

// resumeJobs continues exports, imports and bulk puts that had not ended when the database
// was closed, crashed or was forked.
func (db *DB) resumeJobs(ctx context.Context, forked bool) {
	if err := db.service.ResumeJobs(ctx, forked); err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrClosed) {
		db.opts.Logger.Error("cannot continue exports and imports; the next Open tries again", "error", err)
	}
}

// tendInterval is how often a server does the background work of a shared store.
const tendInterval = 5 * time.Second

// tend does the background work of a store that other servers use too, until ctx ends.
func (db *DB) tend(ctx context.Context) {
	tick := time.NewTicker(tendInterval)
	defer tick.Stop()
	for {
		err := db.tables.Tend(ctx)
		if err == nil {
			err = db.service.ResumeJobs(ctx, false)
		}
		if err != nil && ctx.Err() == nil {
			db.opts.Logger.Warn("background work on the shared store failed; it will be tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// healthPatience limits how long a health check waits for a store.
const healthPatience = time.Second

// health returns why the store does not work, or nil.
func (db *DB) health() error {
	ctx, cancel := context.WithTimeout(context.Background(), healthPatience)
	defer cancel()
	return store.Health(ctx, db.store)
}

func init() {
	inside.Service = func(db any) *api.Service { return db.(*DB).service }
	inside.Trace = func(tr *table.Trace) any { return newTrace(tr) }
	inside.RequestOf = func(e any) []byte { return e.(*Event).request }
	inside.SideOf = func(db any) inside.Side {
		of := db.(*DB)
		return inside.Side{
			Logger: of.opts.Logger, Clock: of.opts.Clock, Observer: observe(of.opts.Observer), RequestID: of.ids,
			Health: of.health,
		}
	}
}

// Fork returns a copy of the database as it is now. Neither sees later writes
// to the other, and each needs its own Close. Fork waits for the writes and the changes of
// tables under way, and later ones wait for it; reads go on. In the function of a transaction of
// the database it returns an error that names the place. Each of optFns may change the options
// of the copy, such as its clock; the store is the copy's own.
//
// In memory, Fork takes the same few microseconds whatever the size. On disk,
// the fork shares files with its origin where it can. It lives in a temporary
// folder inside its origin's folder, which its Close removes; use [DB.Snapshot]
// for a permanent copy. The error is [ErrFork] when the store supports neither.
//
// An import or a bulk put that is in progress continues in both; the reports of a bulk put
// and the files of an export are the origin's alone.
func (db *DB) Fork(optFns ...func(*Options)) (*DB, error) {
	for i, fn := range optFns {
		if fn == nil {
			return nil, misuse("DB.Fork: option %d is nil", i+1)
		}
	}
	forker, ok := db.store.(store.Forker)
	if !ok {
		return nil, ErrFork
	}
	var st store.Store
	tables, err := db.tables.Fork(func() (_ store.Store, err error) {
		st, err = forker.Fork()
		return st, err
	})
	if err != nil {
		return nil, failed(err)
	}
	opts := db.opts
	for _, fn := range optFns {
		fn(&opts)
	}
	opts.Store = st
	opts = opts.withDefaults()
	if err := opts.lag(tables); err != nil {
		return nil, errors.Join(err, st.Close())
	}
	return newDB(opts, st, tables, true), nil
}

// Snapshot copies the database, as it is now, to a folder that must not exist.
// The copy holds every write that was answered, each of them whole. Reads
// continue meanwhile; writes wait while files are linked, but not while they
// are copied. The copy is a store like any other: open it with package
// store/disk, or let it replace another. After an error the folder may hold an
// incomplete copy, which package store/disk refuses to open; it can be removed.
// The error is [ErrSnapshot] for a store that is not on disk; in the function of a transaction
// of the database it names the place.
func (db *DB) Snapshot(ctx context.Context, dir string) error {
	if ctx == nil {
		return noContext("DB.Snapshot")
	}
	st, ok := db.store.(store.Snapshotter)
	if !ok {
		return ErrSnapshot
	}
	if err := db.tables.Outside(); err != nil {
		return failed(err)
	}
	return st.Snapshot(ctx, dir)
}

// Close ends the background work and closes the database and its store. It may
// be called more than once. The error joins the error of the tables, such as a failure
// to write their counters, and the error of the store. Operations under way finish or,
// in memory, fail with [store.ErrClosed], as do those that wait for an [DB.Update]. Exports,
// imports and bulk puts stop after a batch; the next Open continues them, but for exports, which
// fail. In the function of a transaction of the database, Close closes nothing and returns an
// error that names the place.
func (db *DB) Close() error {
	if err := db.tables.Outside(); err != nil {
		return failed(err)
	}
	db.closing.Store(true)
	db.cancel()
	db.service.Faults().Close(store.ErrClosed)
	db.running.Wait()
	db.service.Close()
	err := db.tables.Close(context.Background())
	closed := db.store.Close()
	if errors.Is(err, closed) { // the store says again what it has said to the tables
		return err
	}
	return errors.Join(err, closed)
}

// Region returns the region in the ARNs of tables.
func (db *DB) Region() string {
	if db.opts.Region == "" {
		return api.DefaultRegion
	}
	return db.opts.Region
}
