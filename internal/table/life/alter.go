package life

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
)

// Create checks a definition and creates its table. The caller must not change the definition afterwards. The error
// has kind [table.InUse] if the table exists already or is being restored.
func (db *DB) Create(ctx context.Context, def *table.Definition) (t *table.Table, err error) {
	if err := db.OutsideTx(ctx); err != nil {
		return nil, err
	}
	err = db.exclusively(ctx, func() error {
		t, err = db.createTable(ctx, def, time.Time{}, nothing)
		return err
	})
	return t, err
}

// An extra is a function that a change of a definition runs in the same update.
type extra func(store.Writer) error

func nothing(store.Writer) error { return nil }

// createTable creates a table. It runs the function then in the same update. If until is not zero, the table is
// CREATING until that time.
func (db *DB) createTable(
	ctx context.Context, def *table.Definition, until time.Time, then extra,
) (*table.Table, error) {
	if err := db.unused(ctx, def.Name); err != nil {
		return nil, err
	}
	if err := def.Check(); err != nil {
		return nil, err
	}
	db.create(ctx, def)
	if !until.IsZero() {
		creating(def, until)
	}
	// No running update can use the new table, so the read lock is enough and updates may continue.
	if err := db.Updates.RLock(ctx); err != nil {
		return nil, err
	}
	defer db.Updates.RUnlock()
	def, version, err := db.define(ctx, def, new(table.Definition), then)
	if err != nil {
		return nil, err
	}
	t := table.Compile(def, nil)
	db.swap(def.Name, t, version)
	return t, nil
}

// unused returns an error of kind [table.InUse] if a table called name exists or is being restored. The caller holds
// db.alter.
func (db *DB) unused(ctx context.Context, name string) error {
	if err := db.Refresh(ctx); err != nil {
		return err
	}
	if err := db.removeDeleted(ctx); err != nil {
		return err
	}
	t, err := db.Describe(ctx, name)
	_, restoring := db.restoring.Load(name)
	switch {
	case restoring:
	case err != nil:
		return nil
	case t.Definition().Restoring(db.Clock()) != nil: // ack-api-quirks, DDB-TABLE-219
		return inUse(msgInUse + "Table is being used: " + name)
	case t.Definition().Status(db.Clock()) == table.StatusCreating:
		return changeable(t.Definition(), db.Clock())
	}
	return inUse(msgExists + name)
}

const msgExists = "Table already exists: "

// create gives a new table and its indexes the status CREATING until db.Delay has passed.
func (db *DB) create(ctx context.Context, def *table.Definition) {
	until := time.Time{}
	if !table.IsSettled(ctx) {
		until = db.Until()
	}
	creating(def, until)
}

// creating gives a table and its indexes the status CREATING until a time.
func creating(d *table.Definition, until time.Time) {
	d.States = table.States{Creating: until, Restored: d.States.Restored}
	for _, ix := range d.Online() {
		ix.Creating = until
	}
}

// find returns the table called name. The caller holds db.alter. The error has kind [table.NotFound] and the text of
// operations on tables.
func (db *DB) find(ctx context.Context, name string) (*table.Table, error) {
	if err := db.Refresh(ctx); err != nil {
		return nil, err
	}
	if err := db.removeDeleted(ctx); err != nil {
		return nil, err
	}
	t, err := db.Describe(ctx, name)
	if err != nil {
		return nil, noTable(name)
	}
	return t, nil
}

func noTable(name string) error {
	return &table.Error{
		Kind: table.NotFound, Msg: fmt.Sprintf("Requested resource not found: Table: %s not found", name),
	}
}

// Delete removes a table with its items. It returns the table as it was, or with the status DELETING if db.Delay is
// set. If point-in-time recovery is enabled, the items become a system backup. The error has kind [table.NotFound] if
// there is no such table, [table.Validation] if the table is protected, or [table.InUse] if it is CREATING, UPDATING
// or DELETING.
func (db *DB) Delete(ctx context.Context, name string) (t *table.Table, err error) {
	if err := db.OutsideTx(ctx); err != nil {
		return nil, err
	}
	err = db.exclusively(ctx, func() error {
		t, err = db.deleteTable(ctx, name)
		return err
	})
	return t, err
}

func (db *DB) deleteTable(ctx context.Context, name string) (*table.Table, error) {
	t, err := db.find(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := deletable(t.Definition(), db.Clock()); err != nil {
		return nil, err
	}
	if db.Delay > 0 {
		def := t.Definition().Clone()
		def.States = table.States{Deleting: db.Until()}
		return db.redefine(ctx, def, t, nothing)
	}
	return t, db.remove(ctx, t, nothing)
}

// remove removes a table with its items. It runs the function then in the same update. If the store limits how much
// one update can delete, later updates delete the rows. The caller holds db.alter.
func (db *DB) remove(ctx context.Context, t *table.Table, then extra) error {
	name := t.Definition().Name
	resume, err := db.exclude(ctx)
	if err != nil {
		return err
	}
	defer resume()
	if db.sharing == nil { // publish the removal first, so that no read finds the table without its items
		db.swap(name, nil, 0)
	}
	var listed []store.Space
	version, err := db.redefinition(ctx, func(w store.Writer) error {
		if err := then(w); err != nil {
			return err
		}
		if err := db.endStream(w, t.Definition(), nil); err != nil {
			return err
		}
		if err := w.Delete(table.CatalogueSpace, definitionsPartition, []byte(name)); err != nil {
			return err
		}
		var err error
		if listed, err = db.drop(w, unkept(t)...); err != nil {
			return err
		}
		if t.Definition().Recovery != nil {
			return db.keepDeleted(w, t)
		}
		return nil
	})

	switch {
	case err != nil && db.sharing == nil:
		db.swap(name, t, 0)
	case err == nil && db.sharing != nil:
		db.swap(name, nil, version)
	}

	resume()
	if err == nil {
		db.clearDropped(ctx, listed)
	}
	return err
}

// exclude waits until no update runs. It returns an error if ctx ends before that. New updates wait until the caller
// has published the changed definition and calls resume. In a shared store, exclude does not stop updates, as the
// store itself rejects updates of servers with older definitions.
func (db *DB) exclude(ctx context.Context) (resume func(), err error) {
	if db.sharing == nil {
		return db.Updates.Lock(ctx)
	}
	if err := db.Updates.RLock(ctx); err != nil {
		return nil, err
	}
	return sync.OnceFunc(db.Updates.RUnlock), nil
}

// unkept returns the spaces whose rows are deleted with the table. If point-in-time recovery is enabled, the items
// become a system backup, so their space is not among them.
func unkept(t *table.Table) (spaces []store.Space) {
	for _, ix := range t.Indexes() {
		spaces = append(spaces, ix.Definition().Space)
	}
	if h := t.Definition().History(); h != nil {
		spaces = append(spaces, h.Space)
	}
	if t.Definition().Recovery == nil {
		spaces = append(spaces, t.Definition().Space)
	}
	return spaces
}

// swap publishes t as the table called name, or removes the table if t is nil. Unless the table is new, the caller
// holds the lock from exclude. swap drops earlier versions of the rows, as they lack the rows of new indexes.
//
// version is the version of all definitions after the change. In a shared store, this server may already have loaded
// a definition that another server has changed later. Then swap keeps that definition, and takes only the counters
// from t.
func (db *DB) swap(name string, t *table.Table, version uint64) {
	db.ForgetVersions()
	db.Publish(func(all *table.Set) {
		loaded := db.sharing != nil && all.Version >= version
		switch now := all.ByName[name]; {
		case loaded && now != nil && t != nil && now.Definition().Space == t.Definition().Space:
			all.ByName[name] = table.Compile(now.Definition(), t)
		case loaded:
		case t == nil:
			delete(all.ByName, name)
		default:
			all.ByName[name] = t
		}
	})
}

// Alter calls change, which edits a copy of a table's definition. It then stores and publishes the copy. Before Alter
// returns, it fills new indexes and deletes the rows of removed ones. Reads and writes continue meanwhile. Once the
// definition is published, Alter ignores the end of ctx, except while it waits for another server to fill an index.
// If the store fails after that point, [DB.Recover] completes the work.
//
// The error has kind [table.NotFound] if the table does not exist, or if another server deletes it during the call.
// It has kind [table.InUse] if the table is CREATING or DELETING. Other errors come from change or from the store.
func (db *DB) Alter(ctx context.Context, name string, change func(*table.Definition) error) (*table.Table, error) {
	if err := db.OutsideTx(ctx); err != nil {
		return nil, err
	}
	unlock, err := db.alter.Lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	var old, t *table.Table
	err = db.Retry(ctx, func() (err error) {
		old, t, err = db.alterTable(ctx, name, change)
		return err
	})
	if err != nil {
		return nil, err
	}

	// The definition is published, so complete the change even if the client hangs up. Otherwise a new index would
	// stay unreadable, or the rows of a removed index would stay in the store.
	resized := !t.BilledAs(old)
	exact := resized && db.exact.Swap(false)
	for _, space := range dropped(old.Definition(), t.Definition()) {
		if err := db.clear(context.WithoutCancel(ctx), space); err != nil {
			db.garbage.Store(true)
			return nil, err
		}
	}
	// If the store is not shared, keep the lock while the index is filled, so that Fork and HoldIndexes wait.
	if db.sharing != nil {
		unlock()
	}
	for _, ix := range t.Definition().Online() {
		if hasSpace(old.Definition(), ix.Space) {
			continue
		}
		if err := db.complete(ctx, name, ix.Space); err != nil {
			return nil, err
		}
	}

	if resized {
		if err := db.rebill(context.WithoutCancel(ctx), name); err != nil {
			return nil, err
		}
		if exact {
			db.exact.Store(true)
		}
	}

	now, err := db.Describe(ctx, name)
	if err != nil || now.Definition().Space != t.Definition().Space {
		return nil, noTable(name) // another server has deleted it, and perhaps created another one
	}
	return now, nil
}

// alterTable stores and publishes a changed definition. The caller builds the new indexes.
func (db *DB) alterTable(
	ctx context.Context, name string, change func(*table.Definition) error,
) (old, t *table.Table, err error) {
	if old, err = db.find(ctx, name); err != nil {
		return nil, nil, err
	}
	if old.Definition().Restoring(db.Clock()) != nil { // ack-api-quirks, DDB-TABLE-217
		return nil, nil, noTable(name)
	}
	if err := changeable(old.Definition(), db.Clock()); err != nil {
		return nil, nil, err
	}
	def := old.Definition().Clone()
	if err := change(def); err != nil {
		return nil, nil, err
	}
	if err := def.Check(); err != nil {
		return nil, nil, err
	}

	for _, ix := range def.Online() {
		if ix.Space == 0 {
			ix.Building, ix.Creating = true, db.Until()
		}
	}
	t, err = db.redefine(ctx, def, old, nothing)
	return old, t, err
}

// dropped returns the spaces of the indexes and of the history that the definition old has and def no longer has.
func dropped(old, def *table.Definition) (spaces []store.Space) {
	for _, ix := range old.Online() {
		if !hasSpace(def, ix.Space) {
			spaces = append(spaces, ix.Space)
		}
	}
	if h, is := old.History(), def.History(); h != nil && (is == nil || is.Space != h.Space) {
		spaces = append(spaces, h.Space)
	}
	return spaces
}

// hasSpace reports whether one of the indexes of the definition that clients can create and delete has a space.
func hasSpace(def *table.Definition, space store.Space) bool {
	return slices.ContainsFunc(def.Online(), func(ix *table.IndexDefinition) bool { return ix.Space == space })
}

// redefine stores a definition, runs the function then in the same update, and publishes the definition. Other
// updates may use removed indexes until the new definition is published. So the update does not clear their spaces,
// but lists them as garbage.
func (db *DB) redefine(ctx context.Context, def *table.Definition, old *table.Table, then extra) (*table.Table, error) {
	resume, err := db.exclude(ctx)
	if err != nil {
		return nil, err
	}
	defer resume()
	def, version, err := db.define(ctx, def, old.Definition(), then)
	if err != nil {
		return nil, err
	}
	t := table.Compile(def, old)
	db.swap(def.Name, t, version)
	return t, nil
}

// define stores a definition. It runs the function then in the same update. It assigns spaces to new parts of the
// table. It returns the definition with these spaces, and the new version of all definitions.
func (db *DB) define(
	ctx context.Context, def, old *table.Definition, then extra,
) (stored *table.Definition, version uint64, err error) {
	version, err = db.redefinition(ctx, func(w store.Writer) error {
		if err := then(w); err != nil {
			return err
		}
		if err := db.endStream(w, old, def); err != nil {
			return err
		}
		if err := list(w, dropped(old, def)...); err != nil {
			return err
		}
		stored = def.Clone() // a new copy, as the store may call the function again
		return putDefinition(w, stored)
	})
	return stored, version, err
}

// removeDeleted removes the tables whose time of DELETING is over. The caller holds db.alter.
func (db *DB) removeDeleted(ctx context.Context) error {
	all := db.Current()
	if !all.Deleting {
		return nil
	}
	for _, t := range all.ByName {
		if !t.Gone(db.Clock()) {
			continue
		}
		if err := db.remove(ctx, t, nothing); err != nil {
			return err
		}
	}
	return nil
}

// redefinition is [table.DB.ChangeTables], but it also increments the version of the definitions, and returns the new
// version.
func (db *DB) redefinition(ctx context.Context, fn func(store.Writer) error) (version uint64, err error) {
	err = db.ChangeTables(ctx, func(w store.Writer) (err error) {
		if err = fn(w); err == nil {
			version, err = db.advance(w)
		}
		return err
	})
	return version, err
}
