package layer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/address"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/table/life"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/memory"
)

// An Engine is the name of an engine.
type Engine string

// The engines.
const (
	Memory Engine = "memory"
	Disk   Engine = "disk"
)

// Data is a table in an engine, with a copy of its rows in the bare engine. The copy is a B-tree filled in the same
// order, or a copy of the same Pebble files.
type Data struct {
	Shape  work.Shape
	Store  store.Store
	Tables *life.DB
	API    *api.Service
	DB     *sortkey.DB

	tree    *bareTree // nil on disk
	pebble  *pebble.DB
	loading *life.DB // fills the table, and also the bare tree
	items   int      // items loaded so far
}

// Open creates a table of a shape and fills it. Dir is the empty folder for the files of engines on disk.
func Open(ctx context.Context, e Engine, s work.Shape, dir string) (*Data, error) {
	d := &Data{Shape: s}
	var err error
	switch e {
	case Memory:
		err = d.openMemory(ctx)
	case Disk:
		err = d.openDisk(ctx, dir)
	default:
		err = fmt.Errorf("unknown engine %q", e)
	}
	if err == nil {
		d.DB, err = sortkey.Open(sortkey.Options{Store: d.Store})
	}
	if err != nil {
		_ = d.Close()
		return nil, fmt.Errorf("table of %d items on %s: %w", s.Items, e, err)
	}
	return d, nil
}

func (d *Data) openMemory(ctx context.Context) error {
	d.Store, d.tree = memory.Open(), newBareTree()
	if err := d.create(ctx, tee{d.Store, d.tree}); err != nil {
		return err
	}
	return d.handles(ctx)
}

// handles opens the database and the API on d.Store.
func (d *Data) handles(ctx context.Context) (err error) {
	if d.Tables, err = life.Open(ctx, d.Store); err == nil {
		d.API = api.New(d.Tables, api.Options{})
	}
	return err
}

// openDisk fills a store and merges its files. Then it opens these files with the store and a copy of them with
// Pebble, so that both begin with the same files.
func (d *Data) openDisk(ctx context.Context, folder string) error {
	if folder == "" {
		return errors.New("no folder given")
	}

	dir, bare := filepath.Join(folder, "store"), filepath.Join(folder, "bare")
	st, err := disk.Open(dir, disk.Options{SyncEvery: time.Second})
	if err != nil {
		return err
	}
	if err := errors.Join(d.create(ctx, st), st.Close()); err != nil {
		return err
	}

	p, err := openPebble(dir)
	if err != nil {
		return err
	}
	if err := errors.Join(p.Compact(ctx, []byte{0}, []byte{0xFF}, false), p.Close()); err != nil {
		return err
	}

	if err := os.CopyFS(bare, os.DirFS(dir)); err != nil {
		return err
	}
	if d.pebble, err = openPebble(bare); err != nil {
		return err
	}

	if st, err = disk.Open(dir, disk.Options{}); err != nil {
		return err
	}
	d.Store = st
	return d.handles(ctx)
}

// create creates the table in a store and fills it.
func (d *Data) create(ctx context.Context, st store.Store) error {
	var err error
	if d.loading, err = life.Open(ctx, st); err != nil {
		return err
	}
	body, status := api.New(d.loading, api.Options{}).Serve(
		ctx, "DynamoDB_20120810.CreateTable", d.Shape.CreateBody(), nil,
	)
	if status != 200 {
		return fmt.Errorf("CreateTable: %s", body)
	}
	return d.fill(ctx)
}

// fill adds items up to the number of the shape.
func (d *Data) fill(ctx context.Context) error {
	batch := max(min(1000, 1<<20/max(d.Shape.Size, 1)), 1)
	for d.items < d.Shape.Items {
		next := min(d.items+batch, d.Shape.Items)
		err := d.loading.Update(ctx, func(tx *table.Tx) error {
			t, err := tx.Table(work.TableName)
			if err != nil {
				return err
			}
			for i := d.items; i < next; i++ {
				if _, err := tx.Put(t, d.Shape.Item(i, 0), nil); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		d.items = next
	}
	return nil
}

// Close closes the table. The caller removes the folder.
func (d *Data) Close() (err error) {
	if d.DB != nil {
		err = d.DB.Close()
	} else if d.Store != nil {
		err = d.Store.Close()
	}
	if d.pebble != nil {
		err = errors.Join(err, d.pebble.Close())
	}
	return err
}

// A tee is a store that also puts every row into a bare tree. The store and the tree share the value of a row, so
// that reads of either touch the same memory.
type tee struct {
	store.Store
	tree *bareTree
}

// Update implements [store.Store].
func (t tee) Update(ctx context.Context, fn func(store.Writer) error) error {
	return t.Store.Update(ctx, func(w store.Writer) error { return fn(teeWriter{w, t.tree}) })
}

type teeWriter struct {
	store.Writer
	tree *bareTree
}

// Put implements [store.Writer].
func (w teeWriter) Put(space store.Space, partition, sort, value []byte) error {
	w.tree.put(address.Append(make([]byte, 0, address.Len(partition, sort)), space, partition, sort), value)
	return w.Writer.Put(space, partition, sort, value)
}
