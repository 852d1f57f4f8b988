package life

import (
	"context"
	"encoding/binary"

	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
)

// The garbage partition of the catalogue lists spaces that may have rows although no definition uses them. The update
// that removes a definition lists the table's spaces. The update that deletes the last rows of a space removes it from
// the list. A value of 8 bytes means that a transfer is filling the space. The value is the number of the transfer's
// first space, and the transfer holds the lease of that first space.
var garbagePartition = []byte("garbage")

func garbageRow(space store.Space) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(space))
}

// clearGarbage clears the spaces that the catalogue lists as garbage.
func (db *DB) clearGarbage(ctx context.Context) error {
	if db.sharing == nil { // a shared store needs no lock, as updates that still use a removed index fail there
		// A running Alter may have listed the space of an index that the published definition still has.
		unlock, err := db.alter.Lock(ctx)
		if err != nil {
			return err
		}
		defer unlock()
	}

	type garbage struct{ space, lead store.Space }
	var list []garbage
	err := db.Store.View(ctx, func(r store.Reader) error {
		for row, err := range table.RowsOf(r, garbagePartition) {
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
		// If another server is filling the space, that server holds this lease, so alone does not call clear.
		_, err := db.alone(ctx, g.lead, func(ctx context.Context) error { return db.clear(ctx, g.space) })
		if err != nil {
			return err
		}
	}

	db.garbage.Store(false)
	return nil
}

// drop removes the rows of spaces that an update takes out of use. If the store limits how much an update can delete,
// drop only lists the spaces as garbage and returns them. The caller then calls clearDropped after the update.
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

// list adds spaces to the list of garbage.
func list(w store.Writer, spaces ...store.Space) error {
	for _, space := range spaces {
		if err := w.Put(table.CatalogueSpace, garbagePartition, garbageRow(space), []byte{1}); err != nil {
			return err
		}
	}
	return nil
}

// clearDropped removes the rows of the spaces that drop has returned. It ignores the end of ctx. If the store fails,
// the rows stay until [DB.Recover], which does no harm, as nothing uses the spaces.
func (db *DB) clearDropped(ctx context.Context, spaces []store.Space) {
	for _, space := range spaces {
		if db.clear(context.WithoutCancel(ctx), space) != nil {
			db.garbage.Store(true)
		}
	}
}

// clear removes the rows of a space that is listed as garbage, and then removes it from the list.
func (db *DB) clear(ctx context.Context, space store.Space) error {
	rest := store.Everything()
	for {
		var last *store.Position
		err := db.Change(ctx, func(w store.Writer) error {
			last = nil
			_, listed, err := w.Get(table.CatalogueSpace, garbagePartition, garbageRow(space))
			if err != nil || !listed { // another server has cleared the space or put it in use
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

// deleteSome deletes up to limit rows from the start of part. It returns the position of the last one, or nil if it
// has reached the end.
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
			return table.PositionOf(row), nil
		}
	}
	return nil, nil
}
