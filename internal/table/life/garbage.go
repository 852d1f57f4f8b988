package life

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
)

// The garbage partition of the catalogue lists spaces that belong to no
// definition any more and may still hold rows. The update that removes the
// definition lists its space, and the last one that clears the space removes it from
// the list. If the value has 8 bytes, it is the space whose lease the filler of this
// one holds.
var garbagePartition = []byte("garbage")

func garbageRow(space store.Space) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(space))
}

// clearGarbage clears the spaces that the catalogue lists.
func (db *DB) clearGarbage(ctx context.Context) error {
	if db.sharing == nil { // otherwise an update that uses such a space fails
		// A running Alter may have listed a space whose definition is still in force.
		unlock, err := db.alter.Lock(ctx)
		if err != nil {
			return err
		}
		defer unlock()
	}

	type garbage struct{ space, lead store.Space }
	var list []garbage
	err := db.Store.View(ctx, func(r store.Reader) error {
		for row, err := range r.Query(table.CatalogueSpace, garbagePartition, store.Range{}, false) {
			if err != nil {
				return err
			}
			g := garbage{space: store.Space(binary.BigEndian.Uint64(row.Sort))}
			if _, filling := db.filling.Load(g.space); filling && db.sharing == nil {
				continue
			}
			if g.lead = g.space; len(row.Value) == 8 {
				g.lead = store.Space(binary.BigEndian.Uint64(row.Value))
			}
			list = append(list, g)
		}
		return nil
	})
	if err != nil {
		return err
	}

	for _, g := range list {
		// In a shared store, somebody who fills a space has the lease.
		_, err := db.alone(ctx, g.lead, func(ctx context.Context) error { return db.clear(ctx, g.space) })
		if err != nil {
			return err
		}
	}

	db.garbage.Store(false)
	return nil
}

// drop removes the rows of spaces that the update takes out of use. If the store limits what
// an update can delete, drop only lists them, and returns them for clearDropped after it.
func (db *DB) drop(w store.Writer, spaces ...store.Space) (listed []store.Space, err error) {
	if _, limited := db.Store.(capability.ClearLimiter); limited {
		return spaces, list(w, spaces...)
	}
	for _, space := range spaces {
		if err := w.Clear(space); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// list adds spaces to the garbage.
func list(w store.Writer, spaces ...store.Space) error {
	for _, space := range spaces {
		if err := w.Put(table.CatalogueSpace, garbagePartition, garbageRow(space), []byte{1}); err != nil {
			return err
		}
	}
	return nil
}

// clearDropped removes the rows of spaces that drop has listed. It ignores the end of ctx,
// and leaves work that the store refuses to [DB.Recover]: the spaces are not in use.
func (db *DB) clearDropped(ctx context.Context, spaces []store.Space) {
	for _, space := range spaces {
		if db.clear(context.WithoutCancel(ctx), space) != nil {
			db.garbage.Store(true)
		}
	}
}

// clear removes the rows of a space that is listed, and the space from the list.
func (db *DB) clear(ctx context.Context, space store.Space) error {
	rest := store.Everything()
	for {
		var last *store.Position
		err := db.Change(ctx, func(w store.Writer) error {
			last = nil
			_, listed, err := w.Get(table.CatalogueSpace, garbagePartition, garbageRow(space))
			if err != nil || !listed { // another server has cleared it, or put it in use
				return err
			}
			if limited, ok := db.Store.(capability.ClearLimiter); ok {
				last, err = deleteSome(w, space, rest, limited.ClearLimit())
			} else {
				err = w.Clear(space)
			}
			if err != nil || last != nil {
				return err
			}
			return w.Delete(table.CatalogueSpace, garbagePartition, garbageRow(space))
		})
		if err != nil || last == nil {
			return err
		}

		rest.After = last
	}
}

// deleteSome deletes the first rows of a part of a space, up to limit. It returns the
// position of the last of them, or nil if there may be no more.
func deleteSome(w store.Writer, space store.Space, part store.Span, limit int) (last *store.Position, err error) {
	deleted := 0
	for row, err := range w.Scan(space, part) {
		if err != nil {
			return nil, err
		}
		if err := w.Delete(space, row.Partition, row.Sort); err != nil {
			return nil, err
		}
		if deleted++; deleted == limit {
			return &store.Position{Partition: slices.Clone(row.Partition), Sort: slices.Clone(row.Sort)}, nil
		}
	}
	return nil, nil
}
