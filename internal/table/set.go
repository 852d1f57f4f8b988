package table

import (
	"maps"

	"github.com/sortkey/sortkey/store"
)

// A Set is all tables at one moment. It does not change: a change of a table makes another one.
type Set struct {
	ByName   map[string]*Table
	Deleting bool // a table is DELETING
	// Rows is the store for what depends on these tables. In a shared store it fails with
	// [capability.ErrChanged] once another server has changed a definition.
	Rows store.Store

	// In a shared store: whether the tables were read from it, and the version that they have.
	Loaded  bool
	Version uint64
}

// named returns the table called name, unless the time for which it is DELETING has passed.
func (t *Set) named(db *DB, name string) (*Table, error) {
	if t := t.ByName[name]; t != nil && (!t.passing || !t.Gone(db.Clock())) {
		return t, nil
	}
	return nil, NoSuchTable()
}

// Publish puts tables in force that edit makes of a copy of the current ones.
func (db *DB) Publish(edit func(*Set)) {
	db.publishing.Lock()
	defer db.publishing.Unlock()
	next := *db.Current()
	next.ByName = maps.Clone(next.ByName)
	if next.ByName == nil {
		next.ByName = map[string]*Table{}
	}
	edit(&next)
	next.Deleting = false
	for _, t := range next.ByName {
		next.Deleting = next.Deleting || !t.def.States.Deleting.IsZero()
	}
	db.tables.Store(&next)
}
