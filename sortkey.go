// Package sortkey is an embedded ordered key-value store that answers like DynamoDB.
//
// [Open] opens a [DB], in memory unless [Options] name another store. [DB.CreateTable] creates a table, and [Table]
// returns an API that reads and writes its items as a program's structs:
//
//	songs := sortkey.Table[Song](db, "Music")
//	err := songs.Put(ctx, Song{Artist: "Nina", Title: "Sinnerman"})
//	song, err := songs.Get(ctx, "Nina", "Sinnerman")
//	for song, err := range songs.Query(ctx, "Nina", sortkey.BeginsWith("S")) { … }
//
// [DB.Update] and [DB.View] combine such operations into transactions, and [TableOf.Changes] reads the stream of a
// table. Items, conditions, indexes and errors are those of DynamoDB, so a program can move to the service, and back,
// with its keys and structs.
//
// # Caveats
//
// Inside the function of an Update, an operation that uses the outer context waits for that same Update, until the
// context ends. After five seconds a line in the log names the caller. [DB.Fork] and [DB.Close] wait without a
// context: do not call them in a transaction.
//
// In memory and on disk, a long Update keeps all other writes waiting. While a long View runs, the store keeps those
// rows that the View can see and that later writes have replaced.
//
// The other APIs work on the same database: package server speaks HTTP, package sdk returns real clients of the AWS
// SDK, and package sortkeytest opens a database for a test.
package sortkey

import (
	"cmp"
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

// Open opens a database. Close it after use. If Open fails, close only the store that you have set in [Options], if
// any. Open refuses a store that another database has open, unless programs can share the rows of the store, as with
// package store/postgres. Open reads no items, so its time does not depend on the size of the store.
//
// After a crash Open repairs tables in the background. An index whose building was interrupted can be read once
// [DB.Describe] reports it ACTIVE. Until the items have been counted again, [DB.Describe] reports the counts of the
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
	runtime.AddCleanup(db, claim.release, c) // for a program that drops the database without Close
	return db, nil
}

// A claim records that a database has a store open, so that [Open] refuses to open a second database on the same
// store. Each of the two would cache the definitions of tables. So one database would put rows into tables that the
// other has deleted, and would not maintain indexes that the other has created.
type claim struct {
	store  store.Store
	tables *life.DB
}

// claims maps each claimed store to the tables of the database that has it open.
var claims sync.Map

// take claims the store. It returns false if another database has the store open. A temporary store needs no claim,
// as no other code can use it.
func (c claim) take(isTemporary bool) bool {
	if isTemporary || c.tables.Shared() || !reflect.ValueOf(c.store).Comparable() {
		return true
	}
	_, isOpen := claims.LoadOrStore(c.store, c.tables)
	return !isOpen
}

// release ends the claim, so that another database can open the store.
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
	// if reading fails, the first operation that needs an id reports the error
	_, _ = io.ReadFull(opts.Rand, seed[:])
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

	if !tables.Shared() && (opts.S3Root != "" || !opts.temporary) { // other databases have no jobs
		db.running.Go(func() { db.resumeJobs(ctx, forked) })
	}
	if opts.SweepInterval > 0 {
		db.running.Go(func() { db.sweepEvery(ctx, opts.SweepInterval) })
	}
	return db
}

// recover completes work on tables that a crash or a Close has interrupted.
func (db *DB) recover(ctx context.Context) {
	if err := db.tables.Recover(ctx); err != nil && ctx.Err() == nil {
		db.opts.Logger.Error("recovery of tables failed; the next Open tries again", "error", err)
	}
}

// resumeJobs continues exports, imports and bulk puts that a crash or a Close has interrupted, or that were in
// progress when the database was forked.
func (db *DB) resumeJobs(ctx context.Context, forked bool) {
	if err := db.service.ResumeJobs(ctx, forked); err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrClosed) {
		db.opts.Logger.Error("cannot continue exports and imports; the next Open tries again", "error", err)
	}
}

// tendInterval is how often a program does the background work of a store that it shares with others.
const tendInterval = 5 * time.Second

// tend does the background work of a store that several programs share, until ctx ends.
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

// Fork returns a copy of the database as it is now. Neither database sees later writes to the other, and each needs
// its own Close. Fork waits for the writes and the changes of tables under way, and later writes wait for Fork, but
// reads go on. Do not call it in the function of a transaction. The optFns may change options of the copy, such as
// its clock; the copy always gets its own store.
//
// In memory, Fork takes a few microseconds whatever the size. On disk, the fork shares files with its origin where
// possible. It lives in a temporary folder inside its origin's folder, and its Close removes that folder; use
// [DB.Snapshot] for a permanent copy. The error is [errors.ErrUnsupported] if the store is neither in memory nor on
// disk.
//
// An import or a bulk put that is in progress continues in both databases. Only the origin writes the reports of a
// bulk put and the files of an export.
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

// Snapshot copies the database, as it is now, to the folder dir, which must not exist. The copy has every write that
// was answered before, and no part of any other write. Reads continue. Writes wait while Snapshot links files, but
// not while it copies them. The copy is a store like any other: open it with package store/disk, or let it replace
// another store. After an error the folder may hold an incomplete copy. Package store/disk refuses to open it, and
// you can remove it. The error is [errors.ErrUnsupported] for a store that is not on disk.
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

// Close ends the background work and closes the database and its store. It may be called more than once. Running
// operations finish or, in memory, fail with [store.ErrClosed]. Operations that wait for a [DB.Update] fail with that
// error too, and so do [DB.Compact] and [DB.Snapshot]. Imports and bulk puts stop after a batch, and the next Open
// continues them; exports fail.
//
// Close waits for the functions of running transactions, except for Views in memory, so do not call it in a
// transaction. Its error joins the error of the tables, such as a failure to write their counters, and the error of
// the store.
func (db *DB) Close() error {
	db.closing.Store(true)
	db.cancel()
	db.service.Faults().Close(store.ErrClosed)
	db.running.Wait()
	db.service.Close()
	err := db.tables.Close(context.Background())
	closed := db.store.Close()
	claim{db.store, db.tables}.release()
	if errors.Is(err, closed) { // the tables have returned the same error of the store
		return err
	}
	return errors.Join(err, closed)
}

// Region returns the region in the ARNs of tables, for code that makes or checks ARNs.
func (db *DB) Region() string { return cmp.Or(db.opts.Region, api.DefaultRegion) }

// Observe adds an observer of the operations that begin from now on, until stop is called. The observer in the
// options stays too. The new observer does not see requests that are refused before their operation is known. Its
// events have no HTTP fields.
func (db *DB) Observe(o Observer) (stop func()) { return db.service.Observe(&observer{o}) }
