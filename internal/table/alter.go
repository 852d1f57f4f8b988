package table

import (
	"context"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/store"
)

// Create checks a definition and creates its table. The definition must not be
// changed afterwards. The error has kind [InUse] when a table of that name
// exists.
func (db *DB) Create(ctx context.Context, def *Definition) (*Table, error) {
	db.alter.Lock()
	defer db.alter.Unlock()
	if _, err := db.Describe(def.Name); err == nil {
		return nil, &Error{Kind: InUse, Msg: "Table already exists: " + def.Name}
	}
	if err := def.Check(); err != nil {
		return nil, err
	}
	def, err := db.define(ctx, def, new(Definition))
	if err != nil {
		return nil, err
	}
	t := compile(def, nil)
	db.swap(def.Name, t)
	return t, nil
}

// Delete removes a table with its items and returns the table as it was. With
// point-in-time recovery its items become a system backup. The error has kind [NotFound], or [Validation] when the table is protected.
func (db *DB) Delete(ctx context.Context, name string) (*Table, error) {
	db.alter.Lock()
	defer db.alter.Unlock()
	t, err := db.Describe(name)
	if err != nil {
		return nil, &Error{Kind: NotFound, Msg: fmt.Sprintf("Requested resource not found: Table: %s not found", name)}
	}
	if t.def.Protected {
		return nil, invalid("Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.")
	}
	db.swap(name, nil)
	err = db.change(ctx, func(w store.Writer) error {
		if err := db.endStream(w, t.def, nil); err != nil {
			return err
		}
		if err := w.Delete(catalogueSpace, definitionsPartition, []byte(name)); err != nil {
			return err
		}
		for _, ix := range t.indexes {
			if err := w.Clear(ix.def.Space); err != nil {
				return err
			}
		}
		if t.def.Recovery != nil {
			return db.keepDeleted(w, t)
		}
		return w.Clear(t.def.Space)
	})
	if err != nil {
		db.swap(name, t)
		return nil, err
	}
	return t, nil
}

// swap replaces the table called name; nil removes it. It waits for running
// operations.
func (db *DB) swap(name string, t *Table) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if t == nil {
		delete(db.tables, name)
	} else {
		db.tables[name] = t
	}
}

// Alter lets change edit a copy of a table's definition and puts it in force.
// Before Alter returns, indexes that change adds are filled and the rows of
// those it removes are deleted; reads and writes continue meanwhile. Once the
// definition is in force, the end of ctx is ignored, and work that the store
// then refuses is left to [DB.Recover]. The error has kind [NotFound] for a
// missing table, or is that of change.
func (db *DB) Alter(ctx context.Context, name string, change func(*Definition) error) (*Table, error) {
	db.alter.Lock()
	defer db.alter.Unlock()
	old, err := db.Describe(name)
	if err != nil {
		return nil, &Error{Kind: NotFound, Msg: fmt.Sprintf("Requested resource not found: Table: %s not found", name)}
	}
	def := old.def.clone()
	if err := change(def); err != nil {
		return nil, err
	}
	if err := def.Check(); err != nil {
		return nil, err
	}
	var added []string
	for i := range def.Global {
		if ix := &def.Global[i]; ix.Space == 0 {
			ix.Building = true
			added = append(added, ix.Name)
		}
	}
	t, err := db.redefine(ctx, def, old)
	if err != nil {
		return nil, err
	}
	// From here on the change has to be completed: a client that hangs up must
	// not leave an index that cannot be read, or rows that belong to no index.
	ctx = context.WithoutCancel(ctx)
	for _, space := range dropped(old.def, t.def) {
		if err := db.clear(ctx, space); err != nil {
			db.garbage.Store(true)
			return nil, err
		}
	}
	for _, ix := range t.def.Global {
		if !slices.Contains(added, ix.Name) {
			continue
		}
		if err := db.build(ctx, name, ix.Space); err != nil {
			return nil, err
		}
		if t, err = db.finish(ctx, name, ix.Space); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// dropped returns the spaces of global indexes that old has and def has not.
func dropped(old, def *Definition) (spaces []store.Space) {
	for _, ix := range old.Global {
		if !slices.ContainsFunc(def.Global, func(d IndexDefinition) bool { return d.Space == ix.Space }) {
			spaces = append(spaces, ix.Space)
		}
	}
	return spaces
}

// redefine stores a definition and puts it in force. Spaces that it no longer
// has are listed as garbage, since writes go there until it is in force.
func (db *DB) redefine(ctx context.Context, def *Definition, old *Table) (*Table, error) {
	def, err := db.define(ctx, def, old.def)
	if err != nil {
		return nil, err
	}
	t := compile(def, old)
	db.swap(def.Name, t)
	return t, nil
}

// define writes a definition and returns it with its spaces.
func (db *DB) define(ctx context.Context, def, old *Definition) (stored *Definition, err error) {
	err = db.change(ctx, func(w store.Writer) error {
		if err := db.endStream(w, old, def); err != nil {
			return err
		}
		for _, space := range dropped(old, def) {
			if err := w.Put(catalogueSpace, garbagePartition, garbageRow(space), []byte{1}); err != nil {
				return err
			}
		}
		stored = def.clone() // the function may be called again
		return putDefinition(w, stored)
	})
	return stored, err
}
