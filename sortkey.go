// Package sortkey is an embedded ordered key-value store that answers like
// DynamoDB.
//
// [Open] opens a [DB], in memory unless [Options] name another store. [DB.CreateTable] makes a
// table, and [Table] returns an API for it in terms of a program's structs:
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
// # Caveats
//
// An operation with the outer context in the function of an Update waits for that Update, until the context ends.
// After five seconds a line in the log names the caller. [DB.Fork] and [DB.Close] wait without a context: do not
// call them in a transaction.
//
// A long Update keeps all other writes waiting in memory and on disk. A long View keeps those rows that it can see and
// that have been replaced since.
//
// The other APIs work on the same database: package server speaks HTTP,
// package sdk returns real clients of the AWS SDK, and package sortkeytest opens a database
// for a test.
package sortkey

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"reflect"
	"runtime"
	"sync"
	"time"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/seeded"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// Open opens a database. Close it after use. After an error there is nothing to close but the store, if [Options] name
// one. A store is open in one database at a time, unless programs can share its rows, as with package store/postgres:
// Open refuses it a second time before Close. Open reads no items, so its time does not depend on the size of the
// store.
//
// After a crash Open repairs tables in the background: an index whose building was interrupted can be read once
// [DB.Describe] reports it ACTIVE, and until the items have been counted again, [DB.Describe] reports the counts of the
// last Close.
func Open(opts Options) (*DB, error) {
	opts = opts.withDefaults()
	tables, err := life.Open(context.Background(), opts.Store)
	if err != nil {
		return nil, err
	}
	if err := opts.Simulate.StaleReads.apply(tables); err != nil {
		return nil, err
	}
	c := claim{opts.Store, tables}
	if !c.take(opts.temporary) {
		return nil, misuse("another DB has the store open, and neither would see the tables that the other changes; " +
			"use that DB or a DB.Fork of it, or close it and open the store again")
	}
	db := newDB(opts, opts.Store, tables, false)
	runtime.AddCleanup(db, claim.release, c) // for a database that is dropped without Close
	return db, nil
}

// A claim is a store and the tables of the database that has it open. Two databases on one store would each keep
// the definitions of tables in memory, put rows into deleted tables and none into new indexes.
type claim struct {
	store  store.Store
	tables *life.DB
}

// claims has the claims on stores that are open.
var claims sync.Map

// take reports whether no other database has the store open. A temporary store needs no claim: no other code has it.
func (c claim) take(isTemporary bool) bool {
	if isTemporary || c.tables.Shared() || !reflect.ValueOf(c.store).Comparable() {
		return true
	}
	_, isOpen := claims.LoadOrStore(c.store, c.tables)
	return !isOpen
}

// release lets others open the store.
func (c claim) release() {
	if reflect.ValueOf(c.store).Comparable() {
		claims.CompareAndDelete(c.store, c.tables)
	}
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
		StreamShards: opts.StreamShards, S3Root: opts.S3Root,
		EnforceThroughput: opts.Simulate.EnforceThroughput, TransactionDelay: opts.Simulate.TransactionDelay,
	})

	var seed [32]byte
	_, _ = io.ReadFull(opts.Rand, seed[:]) // an operation that needs an id reports the error
	db.handle = engine.HandleOf(&engine.DB{
		Store: st, Tables: tables, Service: db.service, Logger: opts.Logger, Clock: opts.Clock,
		Observer: observe(opts.Observer), RequestID: seeded.RequestIDs(seed),
	})
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

// Fork returns a copy of the database as it is now. Neither sees later writes
// to the other, and each needs its own Close. Fork waits for the writes and the changes of
// tables under way, and later ones wait for it; reads go on. So do not call it in the function of a
// transaction. Each of optFns may change the options
// of the copy, such as its clock; the store is the copy's own.
//
// In memory, Fork takes the same few microseconds whatever the size. On disk,
// the fork shares files with its origin where it can. It lives in a temporary
// folder inside its origin's folder, which its Close removes; use [DB.Snapshot]
// for a permanent copy. The error is [errors.ErrUnsupported] when the store supports neither.
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
		return nil, unsupported("Fork", "packages store/memory and store/disk")
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
	if err := opts.Simulate.StaleReads.apply(tables); err != nil {
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
// The error is [errors.ErrUnsupported] for a store that is not on disk.
func (db *DB) Snapshot(ctx context.Context, dir string) error {
	if ctx == nil {
		return noContext("DB.Snapshot")
	}
	st, ok := db.store.(store.Snapshotter)
	if !ok {
		return unsupported("Snapshot", "package store/disk")
	}
	return db.maintain(ctx, "DB.Snapshot", func(ctx context.Context) error { return st.Snapshot(ctx, dir) })
}

// Close ends the background work and closes the database and its store. It may
// be called more than once. The error joins the error of the tables, such as a failure
// to write their counters, and the error of the store. Operations under way finish or,
// in memory, fail with [store.ErrClosed], as do those that wait for a [DB.Update], a [DB.Compact]
// and a [DB.Snapshot]. Exports,
// imports and bulk puts stop after a batch; the next Open continues them, but for exports, which
// fail. Close waits for the functions of transactions under way, but for Views in memory, so do not call it in one.
func (db *DB) Close() error {
	db.closing.Store(true)
	db.cancel()
	db.service.Faults().Close(store.ErrClosed)
	db.running.Wait()
	db.service.Close()
	err := db.tables.Close(context.Background())
	closed := db.store.Close()
	claim{db.store, db.tables}.release()
	if errors.Is(err, closed) { // the store says again what it has said to the tables
		return err
	}
	return errors.Join(err, closed)
}

// Region returns the region in the ARNs of tables, for code that makes or checks ARNs.
func (db *DB) Region() string {
	if db.opts.Region == "" {
		return api.DefaultRegion
	}
	return db.opts.Region
}

// Observe adds an observer of the operations that begin from now on, besides that
// of the options, until stop is called. It does not see requests refused before their
// operation is known, and its events have no HTTP fields.
func (db *DB) Observe(o Observer) (stop func()) { return db.service.Observe(&observer{o}) }
