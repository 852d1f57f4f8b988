package table

import (
	"context"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/store"
)

// Create makes a table. The definition is checked, spaces are given out, and
// it must not be changed afterwards. The error has kind [InUse] when a table
// of that name exists.
func (db *DB) Create(ctx context.Context, def *Definition) (*Table, error) {
	db.alter.Lock()
	defer db.alter.Unlock()
	if _, err := db.Describe(def.Name); err == nil {
		return nil, &Error{Kind: InUse, Msg: "Table already exists: " + def.Name}
	}
	if err := def.Check(); err != nil {
		return nil, err
	}
	def = def.clone()
	if err := db.store.Update(ctx, func(w store.Writer) error { return putDefinition(w, def) }); err != nil {
		return nil, err
	}
	t := compile(def, nil)
	db.swap(def.Name, t)
	return t, nil
}

// Delete removes a table with everything in it and returns what it was. The
// error has kind [NotFound], or [Validation] when the table is protected.
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
	err = db.store.Update(ctx, func(w store.Writer) error {
		if err := w.Delete(catalogueSpace, definitionsPartition, []byte(name)); err != nil {
			return err
		}
		for _, ix := range t.indexes {
			if err := w.Clear(ix.def.Space); err != nil {
				return err
			}
		}
		return w.Clear(t.def.Space)
	})
	if err != nil {
		db.swap(name, t)
		return nil, err
	}
	return t, nil
}

// swap puts a table in the place of the one called name; nil removes it. It
// waits for the operations under way.
func (db *DB) swap(name string, t *Table) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if t == nil {
		delete(db.tables, name)
	} else {
		db.tables[name] = t
	}
}

// Alter changes the definition of a table by change, which gets a copy.
// Indexes that change adds are filled from the items there are before Alter
// returns; reads and writes go on meanwhile. Rows of indexes it takes away are
// deleted. Once the definition is in force, the end of ctx is ignored. The error
// has kind [NotFound] for a missing table, or is change's.
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
	// From here there is no way back: a client that hangs up must not leave an
	// index that is never read, or rows that nobody owns.
	ctx = context.WithoutCancel(ctx)
	for _, ix := range old.indexes {
		if !slices.ContainsFunc(def.Global, func(d IndexDefinition) bool { return d.Space == ix.def.Space }) && !ix.local {
			if err := db.store.Update(ctx, func(w store.Writer) error { return w.Clear(ix.def.Space) }); err != nil {
				return nil, err
			}
		}
	}
	for _, index := range added {
		if t, err = db.build(ctx, t, index); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// redefine stores a definition and puts it in force.
func (db *DB) redefine(ctx context.Context, def *Definition, old *Table) (*Table, error) {
	if err := db.store.Update(ctx, func(w store.Writer) error { return putDefinition(w, def) }); err != nil {
		return nil, err
	}
	t := compile(def, old)
	db.swap(def.Name, t)
	return t, nil
}

// buildRows is how many items are added to a new index in one update, so that
// other writers need not wait for the whole of it.
const buildRows = 1000

// build fills a new index from the items of its table and opens it for
// reading. Since the definition is in force, every write since maintains the
// index; the items before it are read here.
func (db *DB) build(ctx context.Context, t *Table, index string) (*Table, error) {
	ix := t.indexes[slices.IndexFunc(t.indexes, func(ix *Index) bool { return ix.def.Name == index })]
	span := store.Everything()
	for done := false; !done; {
		var items, bytes int
		var after *store.Position
		err := db.store.Update(ctx, func(w store.Writer) error {
			items, bytes, after = 0, 0, nil
			var e entry
			n := 0
			for row, err := range w.Scan(t.def.Space, span) {
				if err != nil {
					return err
				}
				if n++; n > buildRows {
					break
				}
				after = &store.Position{Partition: slices.Clone(row.Partition), Sort: slices.Clone(row.Sort)}
				if !e.make(ix, itemOf(row.Value)) {
					continue
				}
				if _, exists, err := w.Get(ix.def.Space, e.partition, e.sort); err != nil {
					return err
				} else if exists {
					continue
				}
				if err := w.Put(ix.def.Space, e.partition, e.sort, slices.Clone(e.value)); err != nil {
					return err
				}
				items++
				bytes += e.value.Size() + storageOverhead
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		ix.stats.add(items, bytes)
		span.After = after
		done = after == nil
	}
	def := t.def.clone()
	for i := range def.Global {
		if def.Global[i].Name == index {
			def.Global[i].Building = false
		}
	}
	return db.redefine(ctx, def, t)
}
