package table

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
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

	store   store.Store
	sharing *sharing // nil unless other servers use the store too

	// mu is held for reading by every View and Update, so that the tables do
	// not change under them, and for writing while a definition is swapped.
	mu     sync.RWMutex
	tables map[string]*Table
	// rows is the store for what depends on tables. In a shared store it fails with
	// [store.ErrChanged] once another server has changed a definition.
	rows store.Store

	closed bool // by Close; guarded by mu

	// alter is held while a table is created, changed or deleted. It is taken
	// before mu.
	alter sync.Mutex

	// ending is held while a job ends and its table comes into force, so that a client
	// that sees the end of the job can use the table.
	ending sync.RWMutex

	// filling are spaces that are listed as garbage and being filled, and restoring
	// the names of tables that they will be. Both are guarded by alter.
	filling   map[store.Space]bool
	restoring map[string]bool

	recovering sync.Mutex  // held by Recover; taken before alter
	exact      atomic.Bool // the counters in memory are exact
	marked     atomic.Bool // the store has the mark that its counters are exact
	garbage    atomic.Bool // the catalogue lists spaces to clear
	deleting   atomic.Bool // a table is DELETING

	lag atomic.Pointer[lag] // nil while all reads see the rows as they are
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
	db := &DB{
		Clock: time.Now, store: st, rows: st, tables: map[string]*Table{}, filling: map[store.Space]bool{},
		restoring: map[string]bool{},
	}
	if shared, ok := st.(store.Sharer); ok {
		db.sharing = &sharing{Sharer: shared}
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
	for _, def := range c.definitions {
		t := compile(def, nil)
		if len(t.vectors) > 0 && mark < billedMark {
			exact = false
		}
		for _, c := range t.counters(false) {
			c.stats.items.Store(stats[c.space][0])
			c.stats.bytes.Store(stats[c.space][1])
		}
		db.put(t)
	}
	db.garbage.Store(c.garbage)
	db.marked.Store(mark > 0)
	db.exact.Store(exact || len(db.tables) == 0)
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
// copy of db's own. Neither sees later writes to the other. Fork waits for
// running operations, and later ones wait for it.
func (db *DB) Fork(fork func() (store.Store, error)) (*DB, error) {
	db.alter.Lock()
	defer db.alter.Unlock()
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return nil, store.ErrClosed
	}
	st, err := fork()
	if err != nil {
		return nil, err
	}
	copied := &DB{
		Clock: db.Clock, Delay: db.Delay, store: st, rows: st, tables: make(map[string]*Table, len(db.tables)),
		filling: map[store.Space]bool{}, restoring: map[string]bool{},
	}
	copied.exact.Store(db.exact.Load())
	copied.marked.Store(db.marked.Load())
	copied.garbage.Store(db.garbage.Load() || len(db.filling) > 0)
	for _, t := range db.tables {
		c := compile(t.def, nil)
		from := t.counters(false)
		for i, to := range c.counters(false) {
			to.stats.copyFrom(from[i].stats)
		}
		copied.put(c)
	}
	return copied, nil
}

// put adds or replaces a table. The caller holds db.mu for writing, or db alone.
func (db *DB) put(t *Table) {
	db.tables[t.def.Name] = t
	if !t.def.States.Deleting.IsZero() {
		db.deleting.Store(true)
	}
}

// Names returns the names of all tables in byte order; see [DB.Refresh].
func (db *DB) Names() []string {
	db.mu.RLock()
	defer db.mu.RUnlock()
	names := slices.Sorted(maps.Keys(db.tables))
	if db.deleting.Load() {
		names = slices.DeleteFunc(names, func(name string) bool { return db.gone(db.tables[name]) })
	}
	return names
}

// Describe returns the table called name as it is now, whatever its status; see
// [DB.Refresh]. The error has kind [NotFound].
func (db *DB) Describe(name string) (*Table, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return db.table(name)
}

func (db *DB) table(name string) (*Table, error) {
	if t := db.tables[name]; t != nil && (!t.passing || !db.gone(t)) {
		return t, nil
	}
	return nil, NoSuchTable()
}

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
	db.mu.RLock()
	defer db.mu.RUnlock()
	return db.rows.View(ctx, func(r store.Reader) error {
		return fn(&View{ctx: ctx, db: db, r: r})
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
	db.mu.RLock()
	defer db.mu.RUnlock()
	g := getters.Get().(*getter)
	defer g.release()
	g.ctx, g.store = ctx, db.rows.(store.Getter)
	g.view = View{ctx: ctx, db: db, r: g}
	err := fn(&g.view)
	if g.asked || db.sharing == nil {
		return err
	}
	// What fn returned depends on the definitions.
	if changed := db.rows.View(ctx, func(store.Reader) error { return nil }); changed != nil {
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
}

var getters = sync.Pool{New: func() any { return new(getter) }}

func (g *getter) release() {
	*g = getter{}
	getters.Put(g)
}

func (g *getter) Get(space store.Space, partition, sort []byte) (value []byte, ok bool, err error) {
	g.asked = true
	return g.store.Get(g.ctx, space, partition, sort)
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
	var tx Tx
	for {
		err := db.apply(ctx, &tx, fn)
		again, err := db.outdated(ctx, err)
		if err != nil {
			return err
		}
		if !again {
			break
		}
	}
	for _, d := range tx.deliveries { // without a lock, as Deliver may use the database
		db.Deliver(d)
	}
	return nil
}

func (db *DB) apply(ctx context.Context, tx *Tx, fn func(*Tx) error) error {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if l := db.lag.Load(); l != nil {
		if err := db.keepVersion(ctx, l); err != nil {
			return err
		}
	}
	err := db.update(ctx, db.rows, func(w store.Writer) error {
		*tx = Tx{View: View{ctx: ctx, db: db, r: w}, w: w}
		return fn(tx)
	})
	if err == nil {
		tx.settle()
	}
	return err
}

// update runs fn as an update of st, which is db.rows or db.store, and removes the mark
// that the stored counters are exact. The caller holds db.mu for reading.
func (db *DB) update(ctx context.Context, st store.Store, fn func(store.Writer) error) error {
	if db.closed {
		return store.ErrClosed
	}
	if db.sharing != nil {
		if err := db.register(ctx); err != nil {
			return err
		}
	}
	if !db.marked.Load() {
		return st.Update(ctx, fn)
	}
	err := st.Update(ctx, func(w store.Writer) error {
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

// change is update for callers that do not hold db.mu, and for a function that does not
// depend on definitions.
func (db *DB) change(ctx context.Context, fn func(store.Writer) error) error {
	if err := db.apart(ctx); err != nil {
		return err
	}
	db.mu.RLock()
	defer db.mu.RUnlock()
	return db.update(ctx, db.store, fn)
}

// redefinition is change for a function that changes definitions. It returns the version
// that they have then. In a shared store the error is [store.ErrChanged] if those that fn
// depends on are not the current ones.
func (db *DB) redefinition(ctx context.Context, fn func(store.Writer) error) (version uint64, err error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	err = db.update(ctx, db.rows, func(w store.Writer) (err error) {
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
