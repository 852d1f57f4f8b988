package table

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/table/lock"
	"github.com/sortkey/sortkey/internal/throttle"
	"github.com/sortkey/sortkey/store"
)

// A DB is a set of tables in a store. It is safe for concurrent use. Package life creates, changes and deletes the
// tables.
type DB struct {
	*lock.Lifetime
	// Updates is a readers-writer lock. Each update holds its read lock, and a change of a definition holds its write
	// lock. See package lock.
	Updates *lock.Lock

	// Clock returns the current time, for stream records and table statuses. Set it before use. Default: time.Now.
	Clock func() time.Time
	// Store holds the rows. Do not replace it.
	Store store.Store
	// Marked is true while the store has a mark which says that the stored counters are exact. The first update
	// removes the mark.
	Marked atomic.Bool

	sharing Sharing // nil unless other servers use the store too

	// tables is the current Set. Publish replaces it while it holds publishing. It takes no other lock meanwhile.
	tables     atomic.Pointer[Set]
	publishing sync.Mutex

	lag atomic.Pointer[lag] // nil if all reads see the current rows
}

// Sharing has the methods that a database needs if other servers use its store too. Package life implements it.
type Sharing interface {
	// Reload loads the definitions that another server has changed.
	Reload(ctx context.Context) error
	// Enlist registers this server in the store. The database calls Enlist before each change, but only the first
	// call does anything.
	Enlist(ctx context.Context) error
}

// New returns a database without tables. Sharing is nil unless other servers use the store too.
func New(st store.Store, sharing Sharing) *DB {
	life := lock.NewLifetime()
	db := &DB{Lifetime: life, Updates: life.NewLock(), Clock: time.Now, Store: st, sharing: sharing}
	db.tables.Store(&Set{Rows: st})
	return db
}

// Shared reports whether other servers may use the store too.
func (db *DB) Shared() bool { return db.sharing != nil }

// Work returns a [throttle.Work] for reading or writing rows. If serial is true, other transactions wait for this one,
// so the Work takes no slot. In a shared store it takes no slot either, as reads there mostly wait for the store.
func (db *DB) Work(serial bool) throttle.Work { return throttle.Work{Free: serial || db.Shared()} }

// Fork returns a copy of db over st, which is a copy of the store of db. Until Fork returns, the caller must let no
// update run and no table change.
func (db *DB) Fork(st store.Store) *DB {
	copied := New(st, nil)
	copied.Clock = db.Clock
	copied.Marked.Store(db.Marked.Load())
	copied.Publish(func(all *Set) {
		for name, t := range db.Current().ByName {
			c := Compile(t.def, nil)
			from := t.Counters(false)
			for i, to := range c.Counters(false) {
				to.Stats.Store(from[i].Stats.Load())
			}
			all.ByName[name] = c
		}
	})
	return copied
}

// Current returns the current tables.
func (db *DB) Current() *Set { return db.tables.Load() }

// now returns the current tables or, if ctx belongs to a transaction, the tables of the transaction.
func (db *DB) now(ctx context.Context) (*Set, error) {
	j, err := db.joined(ctx)
	if err != nil || j == nil {
		return db.Current(), err
	}
	return j.view.tables, nil
}

// Names returns the names of all tables in byte order. In a shared store, these are the tables that the last
// life.DB.Refresh has loaded. In a transaction, they are the tables at its beginning.
func (db *DB) Names(ctx context.Context) ([]string, error) {
	all, err := db.now(ctx)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(all.ByName))
	if all.Deleting {
		names = slices.DeleteFunc(names, func(name string) bool { return all.ByName[name].Gone(db.Clock()) })
	}
	return names, nil
}

// Describe returns the table called name, whatever its status. In a shared store, it is the table that the last
// life.DB.Refresh has loaded. In a transaction, it is the table at its beginning. The error has kind [NotFound].
func (db *DB) Describe(ctx context.Context, name string) (*Table, error) {
	all, err := db.now(ctx)
	if err != nil {
		return nil, err
	}
	return all.named(db, name)
}

// errMoved means that another Set of tables was published before a View or an Update began.
var errMoved = errors.New("table: the tables have changed")

// View calls fn with a consistent view of all tables. If the tables change before fn has read anything, View may call
// fn again.
func (db *DB) View(ctx context.Context, fn func(*View) error) error {
	if j, err := db.joined(ctx); err != nil {
		return err
	} else if j != nil {
		return j.read(ctx, fn)
	}
	return db.Retry(ctx, func() error {
		all := db.Current()
		return all.Rows.View(ctx, func(r store.Reader) error {
			if db.Current() != all { // r may already have rows of tables that all does not have
				return errMoved
			}
			return fn(&View{ctx: ctx, db: db, tables: all, r: r})
		})
	})
}

// ViewItem is View for a function that calls [View.Get] at most once, reads nothing else and does not keep the View.
// If the store is a [capability.Getter], ViewItem needs no snapshot.
func (db *DB) ViewItem(ctx context.Context, fn func(*View) error) error {
	j, err := db.joined(ctx)
	if err != nil {
		return err
	}
	if _, ok := db.Store.(capability.Getter); !ok || j != nil {
		return db.View(ctx, fn)
	}
	return db.Retry(ctx, func() error { return db.viewItem(ctx, fn) })
}

func (db *DB) viewItem(ctx context.Context, fn func(*View) error) error {
	g := getters.Get().(*getter)
	defer g.release()
	all := db.Current()
	g.ctx, g.store = ctx, all.Rows.(capability.Getter)
	g.view = View{ctx: ctx, db: db, tables: all, r: g, addr: g.addr[:0]}
	err := fn(&g.view)
	if g.moved {
		return errMoved
	}
	if g.asked || db.sharing == nil {
		return err
	}
	// fn has read no row, so no read could fail because the definitions are out of date. Check them here.
	if changed := all.Rows.View(ctx, func(store.Reader) error { return nil }); changed != nil {
		return changed
	}
	return err
}

// Outdated reports whether the caller must retry an operation that ended with err, because the tables have changed.
// In a shared store it first loads the new definitions.
func (db *DB) Outdated(ctx context.Context, err error) (bool, error) {
	if err == errMoved { //nolint:errorlint // never wrapped, and nobody else's
		return true, nil
	}
	if err == nil || db.sharing == nil || !errors.Is(err, capability.ErrChanged) {
		return false, err
	}
	err = db.sharing.Reload(ctx)
	return err == nil, err
}

// Retry calls fn. If the call fails because the tables have changed, Retry calls fn again; see [DB.Outdated].
func (db *DB) Retry(ctx context.Context, fn func() error) error {
	for {
		again, err := db.Outdated(ctx, fn())
		if !again {
			return err
		}
	}
}

// A getter is the Reader of a View that ViewItem passes to its function, and holds that View. Getters are pooled, so
// the function must not keep anything of its View.
type getter struct {
	store.Reader // nil, as only Get is called
	view         View
	ctx          context.Context
	store        capability.Getter
	addr         [addressBytes]byte // buffer for the address; stores do not keep the address
	asked        bool
	moved        bool // the tables have changed, so the row may belong to another table
}

var getters = sync.Pool{New: func() any { return new(getter) }}

func (g *getter) release() {
	*g = getter{}
	getters.Put(g)
}

func (g *getter) Get(space store.Space, partition, sort []byte) (value []byte, ok bool, err error) {
	g.asked = true
	value, ok, err = g.store.Get(g.ctx, space, partition, sort)
	if g.view.db.Current() != g.view.tables {
		g.moved = true
		return nil, false, errMoved
	}
	return value, ok, err
}

// Update calls fn with a transaction, and applies the whole transaction if fn returns nil. Update may call fn more
// than once. So if fn changes variables outside the transaction, each call must overwrite what an earlier call has
// set.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	if j, err := db.joined(ctx); err != nil {
		return err
	} else if j != nil {
		return j.write(ctx, fn)
	}
	u := updates.Get().(*update)
	defer u.release()
	return db.run(ctx, u, fn)
}

// run is Update for a context that belongs to no transaction.
func (db *DB) run(ctx context.Context, u *update, fn func(*Tx) error) error {
	u.fn = fn
	return db.Retry(ctx, func() error { return db.apply(ctx, u) })
}

// An update is the state of a running Update. Updates are pooled, so the function must not keep its Tx. UpdateJoined
// uses a new update instead, as its contexts keep the Tx.
type update struct {
	db   *DB
	ctx  context.Context //nolint:containedctx // of the call
	all  *Set
	fn   func(*Tx) error
	tx   Tx
	call func(store.Writer) error // the method write, bound once
}

var updates = sync.Pool{New: func() any { return newUpdate() }}

func newUpdate() *update {
	u := new(update)
	u.call = u.write
	return u
}

func (u *update) release() {
	*u = update{call: u.call}
	updates.Put(u)
}

// write calls the function of the Update. The store may call it again.
func (u *update) write(w store.Writer) error {
	u.tx = Tx{View: View{ctx: u.ctx, db: u.db, tables: u.all, r: w, serial: true}, w: w}
	return u.fn(&u.tx)
}

func (db *DB) apply(ctx context.Context, u *update) error {
	if err := db.Updates.RLock(ctx); err != nil {
		return err
	}
	defer db.Updates.RUnlock()
	if l := db.lag.Load(); l != nil {
		if err := db.keepVersion(ctx, l); err != nil {
			return err
		}
	}
	u.db, u.ctx, u.all = db, ctx, db.Current()
	err := db.update(ctx, u.all.Rows, u.call)
	if err == nil {
		u.tx.settle()
	}
	return err
}

// update runs fn as an update of st. The first update also removes the mark which says that the stored counters are
// exact. The caller holds Updates.
func (db *DB) update(ctx context.Context, st store.Store, fn func(store.Writer) error) error {
	waiting := db.NewContext(ctx)
	defer waiting.End()
	if db.sharing != nil {
		waiting.Wait() // in a shared store, not only the write lock may block, but Enlist too
		if err := db.sharing.Enlist(waiting); err != nil {
			return err
		}
	}

	marked := db.Marked.Load()
	err := st.Update(waiting, func(w store.Writer) error {
		waiting.Begin()
		if marked {
			if err := w.Delete(CatalogueSpace, CountersPartition, ExactRow); err != nil {
				return err
			}
		}
		return fn(w)
	})
	if marked && err == nil {
		db.Marked.Store(false)
	}
	return err
}

// Change runs fn as an update of rows that do not depend on the definitions of tables.
func (db *DB) Change(ctx context.Context, fn func(store.Writer) error) error {
	if err := db.OutsideTx(ctx); err != nil {
		return err
	}
	if err := db.Updates.RLock(ctx); err != nil {
		return err
	}
	defer db.Updates.RUnlock()
	return db.update(ctx, db.Store, fn)
}

// ChangeTables runs fn as an update that changes definitions. The caller holds the write lock of Updates. The read
// lock is enough for a change that only creates a table. It is also enough in a shared store, as that store itself
// rejects updates of servers with older definitions. The error is [capability.ErrChanged] if db has older definitions
// than the store.
func (db *DB) ChangeTables(ctx context.Context, fn func(store.Writer) error) error {
	return db.update(ctx, db.Current().Rows, fn)
}
