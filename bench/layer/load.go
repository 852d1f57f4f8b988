package layer

import (
	"context"
	"fmt"
	"time"

	"github.com/google/btree"

	"github.com/sortkey/sortkey/bench/work"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
)

// loadSync is the time between two syncs while a table is filled.
const loadSync = time.Second

// A loader fills a table.
type loader struct {
	tables *table.DB
	shape  work.Shape
	items  int
}

func newLoader(ctx context.Context, st store.Store, s work.Shape) (*loader, error) {
	tables, err := table.Open(ctx, st)
	if err != nil {
		return nil, err
	}
	body, status := api.New(tables, api.Options{}).Serve(ctx, "DynamoDB_20120810.CreateTable", s.CreateBody(), nil)
	if status != 200 {
		return nil, fmt.Errorf("CreateTable: %s", body)
	}
	return &loader{tables: tables, shape: s}, nil
}

// to adds items until there are so many.
func (l *loader) to(ctx context.Context, items int, loading func(int)) error {
	batch := max(min(1000, 1<<20/max(l.shape.Size, 1)), 1)
	for l.items < items {
		next := min(l.items+batch, items)
		err := l.tables.Update(ctx, func(tx *table.Tx) error {
			t, err := tx.Table(work.TableName)
			if err != nil {
				return err
			}
			for i := l.items; i < next; i++ {
				if _, err := tx.Put(t, l.shape.Item(i, 0), nil); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		l.items = next
		if loading != nil {
			loading(next)
		}
	}
	return nil
}

// A tee is a store that puts every row into a bare tree too, if there is one.
// The values are the same bytes, so both have them at the same places in
// memory.
type tee struct {
	store.Store
	tree *btree.BTreeG[pair]
}

// Update implements [store.Store].
func (t tee) Update(ctx context.Context, fn func(store.Writer) error) error {
	if t.tree == nil {
		return t.Store.Update(ctx, fn)
	}
	return t.Store.Update(ctx, func(w store.Writer) error { return fn(teeWriter{w, t.tree}) })
}

type teeWriter struct {
	store.Writer
	tree *btree.BTreeG[pair]
}

// Put implements [store.Writer].
func (w teeWriter) Put(space store.Space, partition, sort, value []byte) error {
	w.tree.ReplaceOrInsert(pair{store.AppendAddress(make([]byte, 0, store.AddressLen(partition, sort)), space, partition, sort), value})
	return w.Writer.Put(space, partition, sort, value)
}
