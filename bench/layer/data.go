package layer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/btree"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
	"github.com/sortkey/sortkey/store/disk"
	"github.com/sortkey/sortkey/store/memory"
)

// An Engine is where rows are kept.
type Engine string

// The engines.
const (
	Memory Engine = "memory"
	Disk   Engine = "disk"
)

// Data is a table in an engine, and beside it the same rows in the bare engine:
// a B-tree of google/btree that was filled in the same order, or a copy of
// the same Pebble files.
type Data struct {
	Engine Engine
	Shape  work.Shape
	Store  store.Store
	Tables *table.DB
	API    *api.Service
	DB     *sortkey.DB

	tree   *btree.BTreeG[pair]
	pebble *pebble.DB
	load   *loader
}

// A pair is an item of the bare B-tree.
type pair struct{ key, value []byte }

func pairLess(a, b pair) bool { return string(a.key) < string(b.key) }

// treeDegree is that of google/btree's own benchmarks, and of store/memory.
const treeDegree = 32

// Options configure [Open].
type Options struct {
	// Dir is where engines on disk keep their files. It must be empty.
	Dir string
	// NoBare leaves the bare engine out, which halves the memory needed.
	NoBare bool
	// Loading is called with the number of items there are, if it is not nil.
	Loading func(items int)
}

// Open makes a table of a shape and fills it.
func Open(ctx context.Context, e Engine, s work.Shape, o Options) (d *Data, err error) {
	d = &Data{Engine: e, Shape: s}
	defer func() {
		if err != nil {
			_ = d.Close()
			d, err = nil, fmt.Errorf("table of %d items on %s: %w", s.Items, e, err)
		}
	}()
	switch e {
	case Memory:
		d.Store = memory.Open()
		if !o.NoBare {
			d.tree = btree.NewG(treeDegree, pairLess)
		}
		if d.load, err = newLoader(ctx, tee{d.Store, d.tree}, s); err != nil {
			return d, err
		}
		if err := d.load.to(ctx, s.Items, o.Loading); err != nil {
			return d, err
		}
	case Disk:
		if err := d.openDisk(ctx, o); err != nil {
			return d, err
		}
	default:
		return d, fmt.Errorf("there is no engine %q", e)
	}
	return d, d.handles(ctx)
}

// handles opens what the layers work with.
func (d *Data) handles(ctx context.Context) (err error) {
	if d.Tables, err = table.Open(ctx, d.Store); err != nil {
		return err
	}
	d.API = api.New(d.Tables, api.Options{})
	d.DB, err = sortkey.Open(sortkey.Options{Store: d.Store})
	return err
}

// openDisk fills a store, merges its files so that both engines begin alike,
// and opens the files and a copy of them.
func (d *Data) openDisk(ctx context.Context, o Options) error {
	if o.Dir == "" {
		return fmt.Errorf("no folder is given")
	}
	dir, bare := filepath.Join(o.Dir, "store"), filepath.Join(o.Dir, "bare")
	st, err := disk.Open(dir, disk.Options{SyncEvery: loadSync})
	if err != nil {
		return err
	}
	l, err := newLoader(ctx, st, d.Shape)
	if err == nil {
		err = l.to(ctx, d.Shape.Items, o.Loading)
	}
	if closeErr := st.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	p, err := OpenPebble(dir)
	if err != nil {
		return err
	}
	err = p.Compact(ctx, []byte{0}, []byte{0xFF}, false)
	if closeErr := p.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if !o.NoBare {
		if err := os.CopyFS(bare, os.DirFS(dir)); err != nil {
			return err
		}
		if d.pebble, err = OpenPebble(bare); err != nil {
			return err
		}
	}
	if d.Store, err = disk.Open(dir, disk.Options{}); err != nil {
		d.Store = nil
	}
	return err
}

// Grow adds items until there are so many. The engine must be [Memory].
func (d *Data) Grow(ctx context.Context, items int, loading func(int)) error {
	d.Shape.Items = items
	d.load.shape.Items = items
	return d.load.to(ctx, items, loading)
}

// Close closes the table. Its folder is the caller's.
func (d *Data) Close() (err error) {
	if d.DB != nil {
		err = d.DB.Close()
	} else if d.Store != nil {
		err = d.Store.Close()
	}
	if d.pebble != nil {
		if pebbleErr := d.pebble.Close(); err == nil {
			err = pebbleErr
		}
	}
	return err
}
