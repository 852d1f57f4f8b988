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
	"github.com/sortkey/sortkey/internal/heavy"
	"github.com/sortkey/sortkey/internal/table/lock"
	"github.com/sortkey/sortkey/store"
)

// A DB is a set of tables in a store. It is safe for concurrent use. Package life makes and
// changes the tables.
type DB struct {
	*lock.Lifetime
	// Updates is shared by updates, and held exclusively between two of them.
	Updates *lock.Lock

	// Clock returns the time of records of streams. Set it before use. Default:
	// time.Now.
	Clock func() time.Time
	// Store has the rows. It does not change.
	Store store.Store
	// Marked says that the store has the mark that its counters are exact, which the first
	// update removes.
	Marked atomic.Bool

	sharing Sharing // nil unless other servers use the store too

	// tables are the current ones. Whoever replaces them holds publishing, which is held
	// for nothing else.
	tables     atomic.Pointer[Set]
	publishing sync.Mutex

	lag atomic.Pointer[lag] // nil while all reads see the rows as they are
}

// Sharing is what a database needs whose store other servers use too.
type Sharing interface {
	// Reload loads the definitions that another server has changed.
	Reload(ctx context.Context) error
	// Enlist makes this server known, before it first changes anything.
	Enlist(ctx context.Context) error
}

// New returns a database without tables. With sharing, which is nil otherwise, other servers use
// the store too.
func New(st store.Store, sharing Sharing) *DB {
	life := lock.NewLifetime()
	db := &DB{Lifetime: life, Updates: life.NewLock(), Clock: time.Now, Store: st, sharing: sharing}
	db.tables.Store(&Set{Rows: st})
	return db
}

// Shared reports whether other servers may use the store too.
func (db *DB) Shared() bool { return db.sharing != nil }

// Work returns heavy work on rows. Serial work, in the function of a transaction for which others wait, needs no
// slot, nor does any in a shared store, as it mostly waits for that.
func (db *DB) Work(serial bool) heavy.Work { return heavy.Work{Free: serial || db.Shared()} }

// Fork returns a copy of db over a copy of its store. No Update is under way, and no table
// changes meanwhile.
func (db *DB) Fork(st store.Store) *DB {
	copied := New(st, nil)
	copied.Clock = db.Clock
	copied.Marked.Store(db.Marked.Load())
	copied.Publish(func(all *Set) {
		for name, t := range db.Current().ByName {
			c := Compile(t.def, nil)
			from := t.Counters(false)
			for i, to := range c.Counters(false) {
				to.Stats.copyFrom(from[i].Stats)
			}
			all.ByName[name] = c
		}
	})
	return copied
}

// Current returns the current tables.
func (db *DB) Current() *Set { return db.tables.Load() }

// now returns the current tables, or those of the transaction that ctx belongs to.
func (db *DB) now(ctx context.Context) (*Set, error) {
	j, err := db.joined(ctx)
	if err != nil || j == nil {
		return db.Current(), err
	}
	return j.view.tables, nil
}

// Names returns the names of all tables in byte order; see [DB.Refresh]. In a transaction it
// returns the names at the beginning of the transaction.
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

// Describe returns the table called name as it is now, whatever its status; see
// [DB.Refresh]. In a transaction it is the table of its beginning. The error has kind
// [NotFound].
func (db *DB) Describe(ctx context.Context, name string) (*Table, error) {
	all, err := db.now(ctx)
	if err != nil {
		return nil, err
	}
	return all.named(db, name)
}

// errMoved says that the tables have changed before a View or an Update has begun.
var errMoved = errors.New("table: the tables have changed")

// View calls fn with a consistent view of all tables. It may call fn again if fn has
// read nothing yet.
func (db *DB) View(ctx context.Context, fn func(*View) error) error {
	if j, err := db.joined(ctx); err != nil {
		return err
	} else if j != nil {
		return j.read(ctx, fn)
	}
	for {
		err := db.view(ctx, fn)
		if again, err := db.Outdated(ctx, err); !again {
			return err
		}
	}
}

func (db *DB) view(ctx context.Context, fn func(*View) error) error {
	all := db.Current()
	return all.Rows.View(ctx, func(r store.Reader) error {
		if db.Current() != all { // so that the rows may be those of other tables
			return errMoved
		}
		return fn(&View{ctx: ctx, db: db, tables: all, r: r})
	})
}

// ViewItem is View for a function that calls [View.Get] at most once and reads nothing
// else. It does not keep the View.
func (db *DB) ViewItem(ctx context.Context, fn func(*View) error) error {
	j, err := db.joined(ctx)
	if err != nil {
		return err
	}
	if _, ok := db.Store.(capability.Getter); !ok || j != nil {
		return db.View(ctx, fn)
	}
	for {
		err := db.viewItem(ctx, fn)
		if again, err := db.Outdated(ctx, err); !again {
			return err
		}
	}
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
	// What fn returned depends on the definitions.
	if changed := all.Rows.View(ctx, func(store.Reader) error { return nil }); changed != nil {
		return changed
	}
	return err
}

// Outdated reports whether an operation that ended with err has to begin again, with other
// tables, which it has loaded in a shared store.
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

// A getter is the View of a ViewItem, and its Reader. It is pooled; the function of a
// ViewItem keeps nothing of it.
type getter struct {
	store.Reader // nil: nothing but Get is used
	view         View
	ctx          context.Context
	store        capability.Getter
	addr         [addressBytes]byte // memory for the address, which a store does not keep
	asked        bool
	moved        bool // the row may be that of other tables
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

// Update calls fn with a transaction and applies it whole if fn returns nil.
// Fn may be called more than once and must have no effect outside the
// transaction that a second call would not overwrite.
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

// run is Update outside of transactions.
func (db *DB) run(ctx context.Context, u *update, fn func(*Tx) error) error {
	u.fn = fn
	for {
		err := db.apply(ctx, u)
		if again, err := db.Outdated(ctx, err); !again {
			return err
		}
	}
}

// An update is an Update under way. It is pooled, but for that of an UpdateJoined; its function keeps nothing of the
// Tx.
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

// write runs the function, perhaps not for the first time.
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

// update runs fn as an update of st, and removes the mark that the stored counters are exact.
// The caller holds Updates.
func (db *DB) update(ctx context.Context, st store.Store, fn func(store.Writer) error) error {
	waiting := db.NewContext(ctx)
	defer waiting.End()
	if db.sharing != nil {
		waiting.Wait() // its store does more than wait for its write lock
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

// Change is update for a function that does not depend on definitions.
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

// ChangeTables is Change for a function that changes definitions, and so depends on the current
// ones. The caller holds Updates: exclusively, unless the change is a new table or the store is shared, which refuses
// updates that know other definitions. Then the error of fn's own is [capability.ErrChanged] if the current ones are
// not those in the store.
func (db *DB) ChangeTables(ctx context.Context, fn func(store.Writer) error) error {
	return db.update(ctx, db.Current().Rows, fn)
}
