package table

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/sortkey/sortkey/store"
)

// A Backup is a copy of a table. It outlives the table.
type Backup struct {
	// ID is unique in the database. Its first 14 digits are the time of Created
	// in milliseconds since 1970.
	ID      string
	Name    string
	Created time.Time
	// System is true for the backup of a deleted table with point-in-time
	// recovery. A sweep removes it at Expires.
	System  bool      `json:",omitempty"`
	Expires time.Time `json:",omitzero"`
	// Space has the items, as the table's has. The catalogue lists it as garbage
	// until all of them are copied.
	Space store.Space
	// Items and Bytes are the figures of the table.
	Items, Bytes int64
	// Table is the definition of the table as it was.
	Table *Definition
}

// systemRetention is how long a system backup is kept.
// Source: DG/Point-in-time-recovery.html.
const systemRetention = 35 * 24 * time.Hour

// The backups partition of the catalogue has the backups by id.
var backupsPartition = []byte("backups")

// TimeID returns the id of what begins at a time, such as a backup or an export;
// suffix has 8 characters.
func TimeID(at time.Time, suffix string) string {
	return fmt.Sprintf("%014d-%s", at.UnixMilli(), suffix)
}

func putBackup(w store.Writer, b *Backup) error {
	row, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return w.Put(catalogueSpace, backupsPartition, []byte(b.ID), row)
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
	for row, err := range r.Query(catalogueSpace, backupsPartition, store.Range{}, false) {
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
func (db *DB) Backups(ctx context.Context) (list []*Backup, err error) {
	err = db.store.View(ctx, func(r store.Reader) (err error) {
		list, err = readBackups(r)
		return err
	})
	return list, err
}

// Backup returns the backup with an id, or nil if it does not exist.
func (db *DB) Backup(ctx context.Context, id string) (b *Backup, err error) {
	err = db.store.View(ctx, func(r store.Reader) error {
		value, ok, err := r.Get(catalogueSpace, backupsPartition, []byte(id))
		if err != nil || !ok {
			return err
		}
		b, err = decodeBackup(store.Row{Sort: []byte(id), Value: value})
		return err
	})
	return b, err
}

// CreateBackup copies the items of a table as they are now, and completes b, which
// has an ID, a Name and a time. Reads and writes continue meanwhile; changes of
// definitions wait. The error has kind [NotFound] for a missing table.
func (db *DB) CreateBackup(ctx context.Context, name string, b *Backup) error {
	db.alter.Lock()
	defer db.alter.Unlock()
	t, err := db.Describe(name)
	if err != nil {
		return err
	}
	if !db.usable(t) { // ack-api-quirks, DDB-TABLE-374
		return NoSuchTable()
	}
	b.Table = t.def
	b.Items, b.Bytes = 0, 0
	return db.fill(ctx, []*store.Space{&b.Space}, t.def.Space, func(rows []store.Row) error {
		err := db.change(ctx, func(w store.Writer) error {
			for _, row := range rows {
				if err := w.Put(b.Space, row.Partition, row.Sort, row.Value); err != nil {
					return err
				}
			}
			return nil
		})
		for _, row := range rows {
			b.Items++
			b.Bytes += int64(itemOf(row.Value).Size() + storageOverhead)
		}
		return err
	}, func(w store.Writer) error { return putBackup(w, b) })
}

// RestoreBackup creates a table with the items of a backup. The error has kind
// [NotFound] without the backup, and [InUse] when a table of that name exists.
func (db *DB) RestoreBackup(ctx context.Context, def *Definition, id string) (*Table, error) {
	db.alter.Lock()
	defer db.alter.Unlock()
	b, err := db.Backup(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case b == nil:
		return nil, &Error{Kind: NotFound, Msg: "Backup not found: " + id}
	}
	return db.restore(ctx, def, b.Space)
}

// Copy creates a table with the items that another one has now. The error has kind
// [NotFound] without that table, and [InUse] when a table of that name exists.
func (db *DB) Copy(ctx context.Context, def *Definition, name string) (*Table, error) {
	db.alter.Lock()
	defer db.alter.Unlock()
	t, err := db.Describe(name)
	if err != nil {
		return nil, err
	}
	return db.restore(ctx, def, t.def.Space)
}

func (db *DB) restore(ctx context.Context, def *Definition, from store.Space) (*Table, error) {
	if err := db.unused(ctx, def.Name); err != nil {
		return nil, err
	}
	if err := def.Check(); err != nil {
		return nil, err
	}
	def = def.clone()
	db.create(def)
	var t *Table // compiled once its indexes have their spaces
	err := db.fill(ctx, def.spaces(), from, func(rows []store.Row) error {
		if t == nil {
			t = compile(def, nil)
		}
		return db.restoreRows(ctx, t, rows)
	}, func(w store.Writer) error { return putDefinition(w, def) })
	if err != nil {
		return nil, err
	}
	db.swap(def.Name, t)
	return t, nil
}

// restoreRows adds items to a table that is not in force yet, and to its indexes.
func (db *DB) restoreRows(ctx context.Context, t *Table, rows []store.Row) error {
	counts := make([][2]int, len(t.all))
	err := db.change(ctx, func(w store.Writer) error {
		clear(counts)
		var e entry
		for _, row := range rows {
			if err := w.Put(t.def.Space, row.Partition, row.Sort, row.Value); err != nil {
				return err
			}
			for i, ix := range t.all {
				if !e.make(ix, itemOf(row.Value)) {
					continue
				}
				if err := w.Put(ix.def.Space, e.partition, e.sort, slices.Clone(e.value)); err != nil {
					return err
				}
				counts[i][0]++
				counts[i][1] += e.value.Size() + storageOverhead
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, row := range rows {
		t.stats.table.add(1, itemOf(row.Value).Size()+storageOverhead)
	}
	for i, ix := range t.all {
		ix.stats.add(counts[i][0], counts[i][1])
	}
	return nil
}

// copyBytes limits the rows that are copied in one update, beside [buildRows].
const copyBytes = 4 << 20

// fill assigns new spaces, calls put with the rows of another one as they are at
// one moment, some at a time and at least once, and at the end calls use in the
// update from which on the spaces are in use. Until then the catalogue lists them as
// garbage, so that a crash leaves nothing. The caller holds db.alter.
func (db *DB) fill(ctx context.Context, spaces []*store.Space, from store.Space, put func([]store.Row) error, use func(store.Writer) error) error {
	err := db.change(ctx, func(w store.Writer) error {
		for _, s := range spaces {
			*s = 0
		}
		if err := takeSpaces(w, spaces); err != nil {
			return err
		}
		for _, s := range spaces {
			if err := w.Put(catalogueSpace, garbagePartition, garbageRow(*s), []byte{1}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = db.store.View(ctx, func(r store.Reader) error {
		var rows []store.Row
		size := 0
		for row, err := range r.Scan(from, store.Everything()) {
			if err != nil {
				return err
			}
			rows = append(rows, store.Row{Partition: slices.Clone(row.Partition), Sort: slices.Clone(row.Sort), Value: slices.Clone(row.Value)})
			if size += len(row.Value); len(rows) < buildRows && size < copyBytes {
				continue
			}
			if err := put(rows); err != nil {
				return err
			}
			rows, size = nil, 0
		}
		return put(rows)
	})
	if err == nil {
		err = db.change(ctx, func(w store.Writer) error {
			for _, s := range spaces {
				if err := w.Delete(catalogueSpace, garbagePartition, garbageRow(*s)); err != nil {
					return err
				}
			}
			return use(w)
		})
	}
	if err == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // what is half copied has to go
	for _, s := range spaces {
		if db.clear(ctx, *s) != nil {
			db.garbage.Store(true)
		}
	}
	return err
}

// DeleteBackup removes a backup. It does nothing if the backup does not exist.
func (db *DB) DeleteBackup(ctx context.Context, id string) error {
	db.alter.Lock() // so that nothing is being restored from it
	defer db.alter.Unlock()
	b, err := db.Backup(ctx, id)
	if err != nil || b == nil {
		return err
	}
	return db.change(ctx, func(w store.Writer) error {
		if err := w.Delete(catalogueSpace, backupsPartition, []byte(id)); err != nil {
			return err
		}
		return w.Clear(b.Space)
	})
}

// keepDeleted makes the items of a table that is being deleted a system backup.
func (db *DB) keepDeleted(w store.Writer, t *Table) error {
	now := db.Clock().UTC().Truncate(time.Millisecond)
	b := &Backup{
		Name: t.def.Name + "$DeletedTableBackup", Created: now, System: true, Expires: now.Add(systemRetention), Space: t.def.Space, Table: t.def,
	}
	b.Items, b.Bytes = t.Items()
	for at := now; ; at = at.Add(time.Millisecond) {
		b.ID = TimeID(at, "00000000")
		_, taken, err := w.Get(catalogueSpace, backupsPartition, []byte(b.ID))
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
