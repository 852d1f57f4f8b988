package life

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/throttle"
	"github.com/sortkey/sortkey/store"
)

// A Backup is a copy of a table. It can outlive the table.
type Backup struct {
	// ID is unique in the database. Its first 14 digits are the time of Created
	// in milliseconds since 1970.
	ID      string
	Name    string
	Created time.Time
	// System is true for the backup that Delete makes of a table with point-in-time recovery. The first sweep after
	// Expires removes it.
	System  bool      `json:",omitempty"`
	Expires time.Time `json:",omitzero"`
	// Space is the space with the copied items. The catalogue lists it as garbage until the copy is complete, so that
	// a crash leaves no partial copy.
	Space store.Space
	// Items and Bytes are the counters of the table when it was copied.
	Items, Bytes int64
	// Table is the definition of the table when it was copied.
	Table *table.Definition
}

// systemRetention is how long a system backup is kept.
// Source: DG/Point-in-time-recovery.html.
const systemRetention = 35 * 24 * time.Hour

// backupsPartition is the partition of the catalogue with the backups by id.
var backupsPartition = []byte("backups")

// TimeID returns an id for something that began at a time, such as a backup or an export. The ids sort by that time.
// The suffix must have 8 characters.
func TimeID(at time.Time, suffix string) string {
	return fmt.Sprintf("%014d-%s", at.UnixMilli(), suffix)
}

func putBackup(w store.Writer, b *Backup) error {
	return table.PutJSON(w, backupsPartition, []byte(b.ID), b)
}

func decodeBackup(row store.Row) (*Backup, error) {
	b := new(Backup)
	err := json.Unmarshal(row.Value, b)
	if err == nil && (b.ID != string(row.Sort) || b.Table == nil) {
		err = fmt.Errorf("it has the id %q", b.ID)
	}
	if err == nil {
		err = b.Table.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("damaged catalogue: backup %q: %w", row.Sort, err)
	}
	return b, nil
}

// readBackups returns the backups in the order of their ids.
func readBackups(r store.Reader) (list []*Backup, err error) {
	for row, err := range table.RowsOf(r, backupsPartition) {
		if err != nil {
			return nil, err
		}
		b, err := decodeBackup(row)
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}

// Backups returns all backups, the oldest first.
func (db *DB) Backups(ctx context.Context) ([]*Backup, error) { return viewed(ctx, db, readBackups) }

// viewed calls read with a Reader of the current rows and returns its results.
func viewed[T any](ctx context.Context, db *DB, read func(store.Reader) (T, error)) (v T, err error) {
	err = db.Store.View(ctx, func(r store.Reader) (err error) {
		v, err = read(r)
		return err
	})
	return v, err
}

// Backup returns the backup with an id, or nil if it does not exist.
func (db *DB) Backup(ctx context.Context, id string) (*Backup, error) {
	return viewed(ctx, db, func(r store.Reader) (*Backup, error) { return readBackup(r, id) })
}

// readBackup returns the backup with an id, or nil if it does not exist.
func readBackup(r store.Reader, id string) (*Backup, error) {
	value, ok, err := r.Get(table.CatalogueSpace, backupsPartition, []byte(id))
	if err != nil || !ok {
		return nil, err
	}
	return decodeBackup(store.Row{Sort: []byte(id), Value: value})
}

// CreateBackup copies the items of a table as they are now. The caller sets the ID, Name and Created time of b, and
// CreateBackup sets the other fields. Other requests continue during the copy. The error has kind [table.NotFound]
// for a missing table.
func (db *DB) CreateBackup(ctx context.Context, name string, b *Backup) error {
	if err := db.Refresh(ctx); err != nil {
		return err
	}
	t, err := db.Describe(ctx, name)
	if err != nil {
		return err
	}
	if t.Definition().Status(db.Clock()) == table.StatusCreating { // ack-api-quirks, DDB-TABLE-374 and 447
		return table.NoSuchTable()
	}

	b.Table = t.Definition().Clone()
	b.Table.States = table.States{}
	b.Items, b.Bytes = 0, 0
	return db.fill(ctx, transfer{
		spaces: []*store.Space{&b.Space}, source: sourceOf(t),
		put: func(rows []store.Row) error {
			err := db.Change(ctx, func(w store.Writer) error {
				for _, row := range rows {
					if err := w.Put(b.Space, row.Partition, row.Sort, row.Value); err != nil {
						return err
					}
				}
				return nil
			})
			for _, row := range rows {
				b.Items++
				b.Bytes += int64(t.BilledSize(attr.Item(row.Value)) + table.StorageOverhead)
			}
			return err
		},
		use: func(w store.Writer) error { return putBackup(w, b) },
	})
}

// A rowSource returns the space with the rows to copy, or an error if the source does not exist in the Reader.
type rowSource func(store.Reader) (store.Space, error)

// sourceOf returns a source with the rows of a table.
func sourceOf(t *table.Table) rowSource {
	return func(r store.Reader) (store.Space, error) {
		space, err := spaceOf(r, t.Name())
		if err == nil && space != t.Definition().Space {
			err = table.NoSuchTable()
		}
		return space, err
	}
}

// spaceOf returns the space with the items of the table called name, or 0 if there is no such table. It reads the
// table's definition from r, so it needs no lock.
func spaceOf(r store.Reader, name string) (store.Space, error) {
	row, ok, err := r.Get(table.CatalogueSpace, definitionsPartition, []byte(name))
	if err != nil || !ok {
		return 0, err
	}
	var def table.Definition
	err = json.Unmarshal(row, &def)
	return def.Space, err
}

// RestoreBackup creates a table with the items of a backup. The error has kind [table.NotFound] if there is no such
// backup, or [table.InUse] if a table of that name exists.
func (db *DB) RestoreBackup(ctx context.Context, def *table.Definition, id string) (*table.Table, error) {
	return db.restore(ctx, def, func(r store.Reader) (store.Space, error) {
		b, err := readBackup(r, id)
		switch {
		case err != nil:
			return 0, err
		case b == nil:
			return 0, &table.Error{Kind: table.NotFound, Msg: "Backup not found: " + id}
		}
		return b.Space, nil
	}, nil)
}

// Copy creates a table with the items of the table called name. If at is zero, it copies the current items. Otherwise
// it copies the items that the table had at that time, which must be in the table's history. The error has kind
// [table.NotFound] if the source does not exist, or [table.InUse] if a table with the name in def exists.
func (db *DB) Copy(ctx context.Context, def *table.Definition, name string, at time.Time) (*table.Table, error) {
	if err := db.Refresh(ctx); err != nil {
		return nil, err
	}
	t, err := db.Describe(ctx, name)
	if err != nil {
		return nil, err
	}
	var undo func(store.Reader, *table.Table) error
	if h := t.Definition().History(); h != nil && !at.IsZero() {
		undo = func(r store.Reader, restored *table.Table) error { return db.Undo(ctx, r, h, restored, at) }
	}
	return db.restore(ctx, def, sourceOf(t), undo)
}

// restore creates a table and fills it with the rows of a source. Unless finish is nil, it may then change the rows,
// before clients can use the table. Its Reader sees the rows of the source as they were copied.
func (db *DB) restore(
	ctx context.Context, def *table.Definition, from rowSource, finish func(store.Reader, *table.Table) error,
) (*table.Table, error) {
	if err := cmp.Or(db.OutsideTx(ctx), def.Check()); err != nil {
		return nil, err
	}
	unlock, err := db.alter.Lock(ctx)
	if err != nil {
		return nil, err
	}
	err = db.unused(ctx, def.Name)
	if err == nil {
		db.restoring.Store(def.Name, true)
	}
	unlock()
	if err != nil {
		return nil, err
	}
	defer db.restoring.Delete(def.Name)
	def = def.Clone()
	db.create(ctx, def)
	var t *table.Table // compiled in the first put, as the indexes have no spaces before that
	var version uint64
	err = db.fill(ctx, transfer{
		spaces: def.Spaces(), source: from,
		put: func(rows []store.Row) error {
			if t == nil {
				t = table.Compile(def, nil)
			}
			return db.AddRows(ctx, t, rows)
		},
		then: func(r store.Reader) error {
			if finish == nil {
				return nil
			}
			return finish(r, t)
		},
		use: func(w store.Writer) error {
			taken, err := spaceOf(w, def.Name)
			switch {
			case err != nil:
				return err
			case taken != 0: // by another server
				return inUse(msgExists + def.Name)
			}
			if err = putDefinition(w, def); err == nil {
				version, err = db.advance(w)
			}
			return err
		},
		done: func() { db.swap(def.Name, t, version) },
	})
	return t, err
}

// A transfer copies the rows of a source to new spaces.
type transfer struct {
	spaces []*store.Space // the new spaces; fill assigns their numbers
	source rowSource
	put    func([]store.Row) error // stores some rows; called at least once
	// called after all puts, with the Reader from which the rows were copied; may be nil
	then func(store.Reader) error
	use  func(store.Writer) error // puts the spaces in use
	done func()                   // after use; may be nil
}

// fill runs a transfer. The catalogue lists the new spaces as garbage until they are in use, so that Recover clears
// them after a crash. Meanwhile definitions may change and other transfers may run.
func (db *DB) fill(ctx context.Context, c transfer) error {
	unlock, err := db.alter.Lock(ctx)
	if err != nil {
		return err
	}
	err = db.Change(ctx, func(w store.Writer) error {
		for _, s := range c.spaces {
			*s = 0
		}
		return table.TakeSpaces(w, c.spaces)
	})
	if err == nil {
		for _, s := range c.spaces {
			db.filling.Store(*s, true)
		}
	}

	unlock()
	if err != nil {
		return err
	}
	done, err := db.alone(ctx, *c.spaces[0], func(ctx context.Context) error { return db.fillSpaces(ctx, c) })
	if err == nil && done {
		return nil
	}
	if err == nil {
		err = errCleared
	}
	ctx = context.WithoutCancel(ctx) // clear the partial copy even if ctx has ended
	if unlock, err := db.alter.Lock(ctx); err == nil {
		defer unlock()
	}
	for _, s := range c.spaces {
		db.filling.Delete(*s)
		if db.clear(ctx, *s) != nil {
			db.garbage.Store(true)
		}
	}
	return err
}

// fillSpaces lists the new spaces of a transfer as garbage and copies the rows. Then one update removes the spaces
// from the garbage and puts them in use.
func (db *DB) fillSpaces(ctx context.Context, c transfer) error {
	err := db.Change(ctx, func(w store.Writer) error {
		for _, s := range c.spaces {
			lead := garbageRow(*c.spaces[0])
			if err := w.Put(table.CatalogueSpace, garbagePartition, garbageRow(*s), lead); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = db.copyRows(ctx, c)
	}
	if err != nil {
		return err // fill clears the spaces
	}
	return db.exclusively(ctx, func() error {
		for _, s := range c.spaces {
			db.filling.Delete(*s)
		}
		err := db.Change(ctx, func(w store.Writer) error {
			for _, s := range c.spaces {
				_, listed, err := w.Get(table.CatalogueSpace, garbagePartition, garbageRow(*s))
				if err == nil && !listed {
					err = errCleared
				}
				if err == nil {
					err = w.Delete(table.CatalogueSpace, garbagePartition, garbageRow(*s))
				}
				if err != nil {
					return err
				}
			}
			return c.use(w)
		})
		if err == nil && c.done != nil {
			c.done()
		}
		return err
	})
}

// errCleared is the error of a transfer if another server has cleared its spaces. A server does that if it takes this
// one for dead, for example after a long stall.
var errCleared = errors.New("another server has removed the rows that were being copied")

// copyRows passes the rows of one snapshot to the put function of a transfer.
func (db *DB) copyRows(ctx context.Context, c transfer) error {
	var rows []store.Row
	var size table.Batch
	return db.scan(ctx, c.source, func(row store.Row, work *throttle.Work) error {
		rows = append(rows, store.Row{
			Partition: slices.Clone(row.Partition), Sort: slices.Clone(row.Sort), Value: slices.Clone(row.Value),
		})
		if !size.Add(len(row.Value)) {
			return nil
		}
		work.Done() // put waits for its update
		err := c.put(rows)
		rows = nil
		size.Reset()
		return err
	}, func(r store.Reader) error {
		if err := c.put(rows); err != nil || c.then == nil {
			return err
		}
		return c.then(r)
	})
}

// scan calls fn with each row of a source in one snapshot, and then end with the Reader of that snapshot. A row is
// valid until fn returns.
func (db *DB) scan(
	ctx context.Context, from rowSource, fn func(store.Row, *throttle.Work) error, end func(store.Reader) error,
) error {
	return db.Store.View(ctx, func(r store.Reader) error {
		space, err := from(r)
		if err != nil {
			return err
		}
		work := db.Work(false)
		defer work.Done()
		for row, err := range r.Scan(space, store.Everything()) {
			if err == nil {
				err = work.Add(ctx, len(row.Value))
			}
			if err == nil {
				err = fn(row, &work)
			}
			if err != nil {
				return err
			}
		}
		work.Done()
		return end(r)
	})
}

// DeleteBackup removes a backup. It does nothing if the backup does not exist.
func (db *DB) DeleteBackup(ctx context.Context, id string) error {
	var listed []store.Space
	err := db.Change(ctx, func(w store.Writer) error {
		b, err := readBackup(w, id)
		if err != nil || b == nil {
			return err
		}
		if err := w.Delete(table.CatalogueSpace, backupsPartition, []byte(id)); err != nil {
			return err
		}
		listed, err = db.drop(w, b.Space)
		return err
	})
	if err == nil {
		db.clearDropped(ctx, listed)
	}

	return err
}

// keepDeleted records the items of a table that is being deleted as a system backup.
func (db *DB) keepDeleted(w store.Writer, t *table.Table) error {
	now := db.Clock().UTC().Truncate(time.Millisecond)
	b := &Backup{
		Name: t.Definition().Name + "$DeletedTableBackup", Created: now, System: true,
		Expires: now.Add(systemRetention), Space: t.Definition().Space, Table: t.Definition(),
	}
	b.Items, b.Bytes = t.Items()
	for at := now; ; at = at.Add(time.Millisecond) {
		b.ID = TimeID(at, "00000000")
		_, taken, err := w.Get(table.CatalogueSpace, backupsPartition, []byte(b.ID))
		if err != nil {
			return err
		}
		if !taken {
			return putBackup(w, b)
		}
	}
}

// expireBackups removes the system backups that have expired at now.
func (db *DB) expireBackups(ctx context.Context, now time.Time) error {
	list, err := db.Backups(ctx)
	if err != nil {
		return err
	}
	for _, b := range list {
		if b.System && !now.Before(b.Expires) {
			if err := db.DeleteBackup(ctx, b.ID); err != nil {
				return err
			}
		}
	}
	return nil
}
