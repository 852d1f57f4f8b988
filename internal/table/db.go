package table

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sortkey/sortkey/store"
)

// A DB is a set of tables in a store. It is safe for concurrent use.
type DB struct {
	// Clock returns the time of records of streams. Set it before use. Default:
	// time.Now.
	Clock func() time.Time
	// Delay is how long tables and global indexes are CREATING, UPDATING and
	// DELETING. Set it before use. Default: 0.
	Delay time.Duration
	// Deliver, if it is not nil, gets the changes of tables with Kinesis destinations
	// once they are applied, in the goroutine of their writer. Set it before use.
	Deliver func(Delivery)
	// Temporary says that the store ends with the database, so that Close need not
	// write the counters.
	Temporary bool

	// Logger gets a line for each operation that waits long. Set it before use. Default:
	// discard.
	Logger *slog.Logger

	store   store.Store
	sharing *sharing // nil unless other servers use the store too

	// tables are the current ones. Whoever replaces them holds publishing, which is held
	// for nothing else.
	tables     atomic.Pointer[tables]
	publishing sync.Mutex

	gate     gate
	updating atomic.Int64 // UpdateJoined calls that are under way

	// alive ends when Close begins, and ended is closed when the first Close has ended.
	alive  context.Context //nolint:containedctx // of the database
	kill   context.CancelCauseFunc
	closed lock // has no element once somebody closes the database
	ended  chan struct{}

	// alter is held while a table is created, changed or deleted. It is taken before the
	// gate is closed.
	alter lock

	// opening is not nil while a job ends and its table comes into force: a client that sees
	// the end of the job waits until it is closed, so that it can use the table.
	opening atomic.Pointer[chan struct{}]

	transfers transfers

	recovering lock        // held by Recover; taken before alter
	exact      atomic.Bool // the counters in memory are exact
	marked     atomic.Bool // the store has the mark that its counters are exact
	garbage    atomic.Bool // the catalogue lists spaces to clear

	lag atomic.Pointer[lag] // nil while all reads see the rows as they are
}

// newDB returns a database without tables.
func newDB(st store.Store) *DB {
	db := &DB{
		Clock: time.Now, Logger: slog.New(slog.DiscardHandler), store: st, gate: gate{turn: newLock()},
		closed: newLock(), ended: make(chan struct{}), alter: newLock(), recovering: newLock(),
	}
	db.alive, db.kill = context.WithCancelCause(context.Background())
	db.tables.Store(&tables{rows: st})
	return db
}

// transfers are the transfers under way.
type transfers struct {
	mu        sync.Mutex
	filling   map[store.Space]bool // spaces that are listed as garbage and being filled
	restoring map[string]bool      // names of tables that they will be
}

func (t *transfers) isFilling(space store.Space) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.filling[space]
}

func (t *transfers) setFilling(space store.Space, on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	setMember(&t.filling, space, on)
}

func (t *transfers) isRestoring(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.restoring[name]
}

func (t *transfers) setRestoring(name string, on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	setMember(&t.restoring, name, on)
}

func setMember[K comparable](set *map[K]bool, key K, on bool) {
	switch {
	case !on:
		delete(*set, key)
	case *set == nil:
		*set = map[K]bool{key: true}
	default:
		(*set)[key] = true
	}
}

// tables are all tables at one moment. They do not change: a change of a table makes others.
type tables struct {
	byName   map[string]*Table
	deleting bool // a table is DELETING
	// rows is the store for what depends on these tables. In a shared store it fails with
	// [store.ErrChanged] once another server has changed a definition.
	rows store.Store

	// In a shared store: whether they were read from it, and the version that they have.
	loaded  bool
	version uint64
}

// named returns the table called name, unless the time for which it is DELETING has passed.
func (t *tables) named(db *DB, name string) (*Table, error) {
	if t := t.byName[name]; t != nil && (!t.passing || !db.gone(t)) {
		return t, nil
	}
	return nil, NoSuchTable()
}

// publish puts tables in force that edit makes of a copy of the current ones.
func (db *DB) publish(edit func(*tables)) {
	db.publishing.Lock()
	defer db.publishing.Unlock()
	next := *db.tables.Load()
	next.byName = maps.Clone(next.byName)
	if next.byName == nil {
		next.byName = map[string]*Table{}
	}
	edit(&next)
	next.deleting = false
	for _, t := range next.byName {
		next.deleting = next.deleting || !t.def.States.Deleting.IsZero()
	}
	db.tables.Store(&next)
}

// The catalogue is the space of the definitions.
const catalogueSpace store.Space = 0

var (
	definitionsPartition = []byte("tables")
	countersPartition    = []byte("counters")
	spaceCounter         = []byte("space")
)

// Open returns the tables in a store. It reads their definitions and counters
// and no items. When [DB.Recovered] reports false the caller should run
// [DB.Recover], possibly in the background; the tables can be used before it
// ends. The store stays the caller's, to be closed after [DB.Close].
func Open(ctx context.Context, st store.Store) (*DB, error) {
	db := newDB(st)
	if shared, ok := st.(store.Sharer); ok {
		db.sharing = &sharing{Sharer: shared, storing: newLock()}
		return db, db.load(ctx)
	}
	var stats statistics
	var mark byte
	var c *catalogue
	err := st.View(ctx, func(r store.Reader) (err error) {
		if stats, mark, err = readCounters(r); err == nil {
			c, err = readCatalogue(r)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	exact := mark > 0
	db.publish(func(all *tables) {
		for _, def := range c.definitions {
			t := compile(def, nil)
			if len(t.vectors) > 0 && mark < billedMark {
				exact = false
			}
			for _, c := range t.counters(false) {
				c.stats.items.Store(stats[c.space][0])
				c.stats.bytes.Store(stats[c.space][1])
			}
			all.byName[def.Name] = t
		}
	})
	db.garbage.Store(c.garbage)
	db.marked.Store(mark > 0)
	db.exact.Store(exact || len(c.definitions) == 0)
	return db, nil
}

// A catalogue lists the spaces of the store and what they hold.
type catalogue struct {
	definitions []*Definition
	garbage     bool // it lists spaces to clear
}

// readCatalogue reads the catalogue and checks that no space is used twice.
func readCatalogue(r store.Reader) (*catalogue, error) {
	c := new(catalogue)
	last, err := lastSpace(r)
	if err != nil {
		return nil, err
	}
	used := map[store.Space]bool{catalogueSpace: true}
	for row, err := range r.Query(catalogueSpace, definitionsPartition, store.Range{}, false) {
		if err != nil {
			return nil, err
		}
		def, err := readDefinition(row, last, used)
		if err != nil {
			return nil, fmt.Errorf("damaged catalogue: definition of table %q: %w", row.Sort, err)
		}
		c.definitions = append(c.definitions, def)
	}
	for row, err := range r.Query(catalogueSpace, endedPartition, store.Range{}, false) {
		if err != nil {
			return nil, err
		}
		var st StreamInfo
		if err := json.Unmarshal(row.Value, &st); err != nil || st.Shards < 1 || st.Shards > MaxShards || used[st.Space] || st.Space > last {
			return nil, fmt.Errorf("damaged catalogue: stream %q", row.Sort)
		}
		used[st.Space] = true
	}
	backups, err := readBackups(r)
	if err != nil {
		return nil, err
	}
	for _, b := range backups {
		if used[b.Space] || b.Space > last {
			return nil, fmt.Errorf(
				"damaged catalogue: backup %q: space %d is in use or was never assigned", b.ID, b.Space,
			)
		}
		used[b.Space] = true
	}
	for row, err := range r.Query(catalogueSpace, garbagePartition, store.Range{}, false) {
		if err != nil {
			return nil, err
		}
		if len(row.Sort) != 8 || used[store.Space(binary.BigEndian.Uint64(row.Sort))] {
			return nil, fmt.Errorf("damaged catalogue: cannot clear space %x, which is in use", row.Sort)
		}
		c.garbage = true
	}
	return c, nil
}

// Fork returns a copy of db over the store that fork returns, which must be a
// copy of db's own. Neither sees later writes to the other. Fork waits for the Updates and the
// changes of tables under way, and later ones wait for it; reads continue. In the function of a
// transaction of db it returns an error of kind [Validation].
func (db *DB) Fork(fork func() (store.Store, error)) (*DB, error) {
	ctx := context.Background()
	if err := db.Outside(); err != nil {
		return nil, err
	}
	if err := db.alter.take(ctx, db); err != nil {
		return nil, err
	}
	defer db.alter.leave()
	resume, err := db.pause(ctx)
	if err != nil {
		return nil, err
	}
	defer resume()
	st, err := fork()
	if err != nil {
		return nil, err
	}

	copied := newDB(st)
	copied.Clock, copied.Delay = db.Clock, db.Delay
	copied.exact.Store(db.exact.Load())
	copied.marked.Store(db.marked.Load())
	db.transfers.mu.Lock()
	copied.garbage.Store(db.garbage.Load() || len(db.transfers.filling) > 0)
	db.transfers.mu.Unlock()
	copied.publish(func(all *tables) {
		for name, t := range db.tables.Load().byName {
			c := compile(t.def, nil)
			from := t.counters(false)
			for i, to := range c.counters(false) {
				to.stats.copyFrom(from[i].stats)
			}
			all.byName[name] = c
		}
	})
	return copied, nil
}

// now returns the current tables, or those of the transaction that ctx belongs to.
func (db *DB) now(ctx context.Context) (*tables, error) {
	j, err := db.joined(ctx)
	if err != nil || j == nil {
		return db.tables.Load(), err
	}
	return j.view.tables, nil
}

// Names returns the names of all tables in byte order; see [DB.Refresh]. In a transaction they
// are those of its beginning.
func (db *DB) Names(ctx context.Context) ([]string, error) {
	all, err := db.now(ctx)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(all.byName))
	if all.deleting {
		names = slices.DeleteFunc(names, func(name string) bool { return db.gone(all.byName[name]) })
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
		if again, err := db.outdated(ctx, err); !again {
			return err
		}
	}
}

func (db *DB) view(ctx context.Context, fn func(*View) error) error {
	all := db.tables.Load()
	return all.rows.View(ctx, func(r store.Reader) error {
		if db.tables.Load() != all { // so that the rows may be those of other tables
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
	if _, ok := db.store.(store.Getter); !ok || j != nil {
		return db.View(ctx, fn)
	}
	for {
		err := db.viewItem(ctx, fn)
		if again, err := db.outdated(ctx, err); !again {
			return err
		}
	}
}

func (db *DB) viewItem(ctx context.Context, fn func(*View) error) error {
	g := getters.Get().(*getter)
	defer g.release()
	all := db.tables.Load()
	g.ctx, g.store = ctx, all.rows.(store.Getter)
	g.view = View{ctx: ctx, db: db, tables: all, r: g}
	err := fn(&g.view)
	if g.moved {
		return errMoved
	}
	if g.asked || db.sharing == nil {
		return err
	}
	// What fn returned depends on the definitions.
	if changed := all.rows.View(ctx, func(store.Reader) error { return nil }); changed != nil {
		return changed
	}
	return err
}

// A getter is the View of a ViewItem, and its Reader. It is pooled; the function of a
// ViewItem keeps nothing of it.
type getter struct {
	store.Reader // nil: nothing but Get is used
	view         View
	ctx          context.Context
	store        store.Getter
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
	if g.view.db.tables.Load() != g.view.tables {
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
	var u update
	for {
		err := db.apply(ctx, &u, fn)
		again, err := db.outdated(ctx, err)
		if err != nil {
			return err
		}
		if !again {
			break
		}
	}
	for _, d := range u.tx.deliveries { // when the Update has ended, as Deliver may use the database
		db.Deliver(d)
	}
	return nil
}

// An update is an Update under way.
type update struct {
	tx   Tx
	turn turn
}

func (db *DB) apply(ctx context.Context, u *update, fn func(*Tx) error) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	if l := db.lag.Load(); l != nil {
		if err := db.keepVersion(ctx, l); err != nil {
			return err
		}
	}
	all := db.tables.Load()
	tx := &u.tx
	err := db.update(ctx, &u.turn, all.rows, func(w store.Writer) error {
		*tx = Tx{View: View{ctx: ctx, db: db, tables: all, r: w}, w: w}
		return fn(tx)
	})
	if err == nil {
		tx.settle()
	}
	return err
}

// update runs fn as an update of st, and removes the mark that the stored counters are exact.
// The caller has entered the gate. It lends the turn for the time of the call.
func (db *DB) update(ctx context.Context, t *turn, st store.Store, fn func(store.Writer) error) error {
	t.start(ctx, db)
	ctx = t
	defer t.end()
	if db.sharing != nil {
		ctx = t.wait() // its store does more than wait for a turn
		if err := db.register(ctx); err != nil {
			return err
		}
	}
	if !db.marked.Load() {
		return st.Update(ctx, func(w store.Writer) error {
			t.begin()
			return fn(w)
		})
	}
	err := st.Update(ctx, func(w store.Writer) error {
		t.begin()
		if err := w.Delete(catalogueSpace, countersPartition, exactRow); err != nil {
			return err
		}
		return fn(w)
	})
	if err == nil {
		db.marked.Store(false)
	}
	return err
}

// change is update for a function that does not depend on definitions.
func (db *DB) change(ctx context.Context, fn func(store.Writer) error) error {
	if err := db.apart(ctx); err != nil {
		return err
	}
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.leave()
	return db.update(ctx, new(turn), db.store, fn)
}

// redefinition is change for a function that changes definitions. It returns the version
// that they have then. In a shared store the error is [store.ErrChanged] if those that fn
// depends on are not the current ones.
func (db *DB) redefinition(ctx context.Context, fn func(store.Writer) error) (version uint64, err error) {
	if err := db.enter(ctx); err != nil {
		return 0, err
	}
	defer db.leave()
	err = db.update(ctx, new(turn), db.tables.Load().rows, func(w store.Writer) (err error) {
		if err = fn(w); err == nil {
			version, err = db.advance(w)
		}
		return err
	})
	return version, err
}

// lastSpace returns the space that was assigned last.
func lastSpace(r store.Reader) (last store.Space, err error) {
	value, ok, err := r.Get(catalogueSpace, countersPartition, spaceCounter)
	if err != nil || !ok {
		return 0, err
	}
	if err := json.Unmarshal(value, &last); err != nil {
		return 0, fmt.Errorf("damaged catalogue: counter of spaces: %w", err)
	}
	if last > math.MaxInt64 { // so that counting on never wraps around to the catalogue
		return 0, fmt.Errorf("damaged catalogue: counter of spaces: %d", last)
	}
	return last, nil
}

// readDefinition decodes a definition and checks it, as damage could otherwise mix
// up the rows of two tables. It adds the definition's spaces to used.
func readDefinition(row store.Row, last store.Space, used map[store.Space]bool) (*Definition, error) {
	def := new(Definition)
	if err := json.Unmarshal(row.Value, def); err != nil {
		return nil, err
	}
	if def.Name != string(row.Sort) {
		return nil, fmt.Errorf("it has the name %q", def.Name)
	}
	if err := def.Check(); err != nil {
		return nil, err
	}
	if st := def.Stream; st != nil && (st.Shards < 1 || st.Shards > MaxShards) {
		return nil, fmt.Errorf("its stream has %d shards", st.Shards)
	}
	for _, a := range def.Attributes {
		if !a.Kind.IsScalar() {
			return nil, fmt.Errorf("key attribute %q has type %q", a.Name, a.Kind)
		}
	}
	for _, s := range def.spaces() {
		if used[*s] || *s > last {
			return nil, fmt.Errorf("space %d is in use or was never assigned", *s)
		}
		used[*s] = true
	}
	return def, nil
}

// putDefinition writes a definition to the catalogue and assigns a space to the
// table and to each index without one.
func putDefinition(w store.Writer, def *Definition) error {
	if st := def.Stream; st != nil && st.Space == 0 {
		if err := st.begin(w, def.Name); err != nil {
			return err
		}
		def.LastStream = st.Label
	}
	if err := takeSpaces(w, def.spaces()); err != nil {
		return err
	}
	row, err := json.Marshal(def)
	if err != nil {
		return err
	}
	return w.Put(catalogueSpace, definitionsPartition, []byte(def.Name), row)
}

// takeSpaces assigns a new space to each that is zero.
func takeSpaces(w store.Writer, spaces []*store.Space) error {
	last, err := lastSpace(w)
	if err != nil {
		return err
	}
	for _, s := range spaces {
		if *s == 0 {
			last++
			*s = last
		}
	}
	counter, err := json.Marshal(last)
	if err != nil {
		return err
	}
	return w.Put(catalogueSpace, countersPartition, spaceCounter, counter)
}
