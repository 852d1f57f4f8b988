package table

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/sortkey/sortkey/store"
)

// A DB is a set of tables in a store. It is safe for concurrent use.
type DB struct {
	store store.Store

	// mu is held for reading by every View and Update, so that the tables do
	// not change under them, and for writing while a definition is swapped.
	mu     sync.RWMutex
	tables map[string]*Table

	// alter is held while a table is created, changed or deleted.
	alter sync.Mutex
}

// The catalogue is the space the definitions are kept in.
const catalogueSpace store.Space = 0

var (
	definitionsPartition = []byte("tables")
	countersPartition    = []byte("counters")
	spaceCounter         = []byte("space")
)

// Open returns the tables in a store. It reads their definitions and counts
// their items. The caller keeps the store and closes it.
func Open(ctx context.Context, st store.Store) (*DB, error) {
	db := &DB{store: st, tables: map[string]*Table{}}
	err := st.View(ctx, func(r store.Reader) error {
		for row, err := range r.Query(catalogueSpace, definitionsPartition, store.Range{}, false) {
			if err != nil {
				return err
			}
			def := new(Definition)
			if err := json.Unmarshal(row.Value, def); err != nil {
				return err
			}
			t := compile(def, nil)
			if err := t.count(r); err != nil {
				return err
			}
			db.tables[def.Name] = t
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return db, nil
}

// Fork returns a copy of db over the store that fork returns, which must be a
// copy of db's own. Neither sees what is written to the other afterwards.
func (db *DB) Fork(fork func() (store.Store, error)) (*DB, error) {
	db.alter.Lock()
	defer db.alter.Unlock()
	db.mu.Lock()
	defer db.mu.Unlock()
	st, err := fork()
	if err != nil {
		return nil, err
	}
	copied := &DB{store: st, tables: make(map[string]*Table, len(db.tables))}
	for name, t := range db.tables {
		c := compile(t.def, nil)
		c.stats.table.copyFrom(t.stats.table)
		for index, s := range c.stats.byName {
			s.copyFrom(t.stats.byName[index])
		}
		copied.tables[name] = c
	}
	return copied, nil
}

func (s *spaceStats) copyFrom(o *spaceStats) {
	s.items.Store(o.items.Load())
	s.bytes.Store(o.bytes.Load())
}

// count sets the counters of t from its rows.
func (t *Table) count(r store.Reader) error {
	spaces := []store.Space{t.def.Space}
	counters := []*spaceStats{t.stats.table}
	for _, ix := range t.indexes {
		spaces = append(spaces, ix.def.Space)
		counters = append(counters, ix.stats)
	}
	for i, space := range spaces {
		for row, err := range r.Scan(space, store.Everything()) {
			if err != nil {
				return err
			}
			counters[i].add(1, itemOf(row.Value).Size()+storageOverhead)
		}
	}
	return nil
}

// Names returns the names of all tables in byte order.
func (db *DB) Names() []string {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return slices.Sorted(maps.Keys(db.tables))
}

// Describe returns the table called name as it is now. The error has kind
// [NotFound].
func (db *DB) Describe(name string) (*Table, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return db.table(name)
}

func (db *DB) table(name string) (*Table, error) {
	if t := db.tables[name]; t != nil {
		return t, nil
	}
	return nil, NoSuchTable()
}

// View calls fn with a consistent snapshot of all tables.
func (db *DB) View(ctx context.Context, fn func(*Snapshot) error) error {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return db.store.View(ctx, func(r store.Reader) error {
		return fn(&Snapshot{ctx: ctx, db: db, r: r})
	})
}

// Update calls fn with a transaction and applies it whole if fn returns nil.
// Fn may be called more than once and must have no effect outside the
// transaction that a second call would not overwrite.
func (db *DB) Update(ctx context.Context, fn func(*Tx) error) error {
	db.mu.RLock()
	defer db.mu.RUnlock()
	var tx Tx
	err := db.store.Update(ctx, func(w store.Writer) error {
		tx = Tx{Snapshot: Snapshot{ctx: ctx, db: db, r: w}, w: w}
		return fn(&tx)
	})
	if err == nil {
		tx.settle()
	}
	return err
}

// putDefinition writes a definition to the catalogue, giving a space to the
// table and to each index that has none.
func putDefinition(w store.Writer, def *Definition) error {
	value, _, err := w.Get(catalogueSpace, countersPartition, spaceCounter)
	if err != nil {
		return err
	}
	var last store.Space
	if value != nil {
		if err := json.Unmarshal(value, &last); err != nil {
			return err
		}
	}
	assign := func(s *store.Space) {
		if *s == 0 {
			last++
			*s = last
		}
	}
	assign(&def.Space)
	for _, indexes := range [][]IndexDefinition{def.Global, def.Local} {
		for i := range indexes {
			assign(&indexes[i].Space)
		}
	}
	counter, err := json.Marshal(last)
	if err != nil {
		return err
	}
	row, err := json.Marshal(def)
	if err != nil {
		return err
	}
	if err := w.Put(catalogueSpace, countersPartition, spaceCounter, counter); err != nil {
		return err
	}
	return w.Put(catalogueSpace, definitionsPartition, []byte(def.Name), row)
}
