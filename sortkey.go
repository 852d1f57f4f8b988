// Package sortkey is an embedded ordered key-value store that answers like
// DynamoDB.
//
// [Open] gives a [DB], in memory unless another store is given. It needs no
// socket: [DB.HTTPClient] is an HTTP client whose every request is answered by
// [DB.Handler] in this process, and package sdk makes a real DynamoDB client
// of the AWS SDK over it. Package sortkeytest opens a database for a test and
// closes it.
package sortkey

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/inside"
	"github.com/sortkey/sortkey/internal/server"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/memory"
)

// Options configure [Open]. The zero value is ready to use.
type Options struct {
	// Store keeps the rows. Default: a new one of package store/memory. The DB closes it.
	Store store.Store
	// Clock tells the time. Default: time.Now.
	Clock func() time.Time
	// Rand is where ids come from. Default: crypto/rand.Reader. A seeded
	// reader makes every id reproducible. It must be safe for concurrent use.
	Rand io.Reader
	// Logger receives what goes wrong inside. Default: discard.
	Logger *slog.Logger
	// Region and Account are those in the ARNs of tables. Default:
	// "us-east-1" and "000000000000".
	Region, Account string
	// SweepInterval is how often items that have expired are deleted in the
	// background. Default: never; [DB.Sweep] does it when called. A fork has
	// the same.
	SweepInterval time.Duration
	// Observer is told of every request, however it comes. Default: none.
	Observer Observer
	// Server configures the HTTP side.
	Server ServerOptions
}

// A DB is an open database. It is safe for concurrent use.
type DB struct {
	opts    Options
	store   store.Store
	tables  *table.DB
	service *api.Service
	handler http.Handler
	cancel  context.CancelFunc // ends what runs in the background
	running sync.WaitGroup     // in the background
}

// ErrFork is returned by [DB.Fork] when the store cannot be forked.
var ErrFork = errors.New("sortkey: store does not support Fork")

// ErrSnapshot is returned by [DB.Snapshot] when the store cannot be copied to a
// folder.
var ErrSnapshot = errors.New("sortkey: store does not support Snapshot (stores of package store/disk do)")

// Open opens a database. Close it after use. It reads no items, whatever the
// size of the store. What a crash left undone is done in the background: an
// index that was being built can be read when DescribeTable says that it is
// ACTIVE, and until items have been counted again, DescribeTable has the
// figures of the last Close.
func Open(opts Options) (*DB, error) {
	if opts.Store == nil {
		opts.Store = memory.Open()
	}
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	if opts.Rand == nil {
		opts.Rand = rand.Reader
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	tables, err := table.Open(context.Background(), opts.Store)
	if err != nil {
		return nil, err
	}
	return newDB(opts, opts.Store, tables), nil
}

func newDB(opts Options, st store.Store, tables *table.DB) *DB {
	db := &DB{opts: opts, store: st, tables: tables}
	db.service = api.New(tables, api.Options{
		Clock: opts.Clock, Rand: opts.Rand, Logger: opts.Logger, Observer: observe(opts.Observer), Region: opts.Region, Account: opts.Account,
	})
	db.handler = traceHandler(server.New(db.service, db.serverOptions()))
	ctx, cancel := context.WithCancel(context.Background())
	db.cancel = cancel
	if !tables.Recovered() {
		db.running.Go(func() { db.recover(ctx) })
	}
	if opts.SweepInterval > 0 {
		db.running.Go(func() { db.sweepEvery(ctx, opts.SweepInterval) })
	}
	return db
}

// recover does what was left undone when the database was closed or crashed.
func (db *DB) recover(ctx context.Context) {
	if err := db.tables.Recover(ctx); err != nil && ctx.Err() == nil {
		db.opts.Logger.Error("recovery of tables; it is tried again when the database is opened", "error", err)
	}
}

func (db *DB) serverOptions() server.Options {
	o := db.opts.Server
	return server.Options{
		Logger: db.opts.Logger, Clock: db.opts.Clock, Observer: observe(db.opts.Observer),
		Credentials: o.Credentials, Open: o.Open, CORS: o.CORS,
		MaxBodyBytes: o.MaxBodyBytes, MaxRequests: o.MaxRequests, MaxConnections: o.MaxConnections,
		ReadTimeout: o.ReadTimeout, WriteTimeout: o.WriteTimeout, IdleTimeout: o.IdleTimeout, ShutdownTimeout: o.ShutdownTimeout,
	}
}

// Handler returns the HTTP handler that speaks the service's protocol.
func (db *DB) Handler() http.Handler { return db.handler }

// HTTPClient returns an HTTP client whose requests, whatever their address,
// are answered by [DB.Handler] in this process, without a socket. The
// context of a request reaches the database.
func (db *DB) HTTPClient() *http.Client {
	return &http.Client{Transport: &server.Transport{Handler: db.handler}}
}

// Serve serves [DB.Handler] on ln until ctx ends and the requests under way are
// done, with the limits and time-outs of [Options].Server. It closes ln.
func (db *DB) Serve(ctx context.Context, ln net.Listener) error {
	return server.Serve(ctx, ln, db.handler, db.serverOptions())
}

func init() {
	inside.Service = func(db any) *api.Service { return db.(*DB).service }
}

// Fork returns a copy of the database as it is now. Neither sees what is
// written to the other afterwards, and each needs its own Close. It waits for
// the operations under way; later ones wait for it.
//
// In memory it takes the same few microseconds whatever the size. On disk the
// fork shares the files it can with its origin, lies in a temporary folder
// inside its origin's and is removed by its Close; see [DB.Snapshot] for a copy
// to keep. The error is [ErrFork] when the store can do neither.
func (db *DB) Fork() (*DB, error) {
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
		return nil, err
	}
	return newDB(db.opts, st, tables), nil
}

// Snapshot makes a copy of the database, as it is now, in a folder that must
// not exist: every write that was answered is in it, each whole. Reads go on
// meanwhile, and writes wait while files are linked, not while they are copied.
// The copy is a store like any other: open it with package store/disk, or put
// it in the place of one. What an error left of it is refused there and can be
// removed. The error is [ErrSnapshot] for a store that is not on disk.
func (db *DB) Snapshot(ctx context.Context, dir string) error {
	st, ok := db.store.(store.Snapshotter)
	if !ok {
		return ErrSnapshot
	}
	return st.Snapshot(ctx, dir)
}

// Close ends what runs in the background and closes the database and its
// store. It may be called more than once. Operations under way finish or, in
// memory, fail with [store.ErrClosed]; it must not be called inside one.
func (db *DB) Close() error {
	db.cancel()
	db.running.Wait()
	err := db.tables.Close(context.Background())
	if closeErr := db.store.Close(); closeErr != nil {
		return closeErr
	}
	return err
}

// Region returns the region in the ARNs of tables.
func (db *DB) Region() string {
	if db.opts.Region == "" {
		return api.DefaultRegion
	}
	return db.opts.Region
}
