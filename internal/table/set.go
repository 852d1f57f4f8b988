package table

import (
	"maps"

	"github.com/sortkey/sortkey/store"
)

// A Set is all tables at one moment. It is immutable: each change of a table publishes a new Set.
type Set struct {
	ByName   map[string]*Table
	Deleting bool // a table is DELETING
	// Rows is the store for operations that depend on these definitions. In a shared store, such operations fail with
	// [capability.ErrChanged] once another server has changed a definition.
	Rows store.Store

	// Loaded and Version are only used in a shared store. Loaded is true once the tables have been read from the
	// store. Version is the version of the catalogue from which they were read.
	Loaded  bool
	Version uint64
}

// named returns the table called name. A table that was DELETING does not exist once that time is over.
func (t *Set) named(db *DB, name string) (*Table, error) {
	if t := t.ByName[name]; t != nil && (!t.passing || !t.Gone(db.Clock())) {
		return t, nil
	}
	return nil, NoSuchTable()
}

// Publish calls edit with a copy of the current Set. The copy then becomes the current Set.
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
