package life

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
)

// Changes calls visit with each item of the table called name that differs between before and db, in scan order: the
// old and the new item, of which one may be nil. If before is nil or the table is new, it visits every item. Items
// are valid until visit returns; an error from visit ends the walk.
//
// Between a database in memory and its fork, the time depends on the number of differences, see [capability.Changes],
// unless the table was created again. If ctx belongs to a [table.DB.ViewJoined] of either database, Changes compares
// the state that this View sees.
func (db *DB) Changes(ctx context.Context, before *DB, name string, visit func(was, is attr.Item) error) error {
	return view(ctx, before, func(old store.Reader) error {
		return view(ctx, db, func(r store.Reader) error {
			was, err := itemsIn(old, name)
			if err != nil {
				return err
			}
			is, err := itemsIn(r, name)
			if err != nil {
				return err
			}
			changes := capability.Changes(was, is, is.space)
			if was.space == is.space && is.space != 0 {
				changes = capability.Changes(was.Reader, is.Reader, is.space)
			}
			for c, err := range changes {
				if err == nil {
					err = visit(itemOfRow(c.Before), itemOfRow(c.Now))
				}
				if err != nil {
					return err
				}
			}

			return nil
		})
	})
}

// view calls fn with a Reader of db, or with nil if db is nil.
func view(ctx context.Context, db *DB, fn func(store.Reader) error) error {
	if db == nil {
		return fn(nil)
	}
	return db.View(ctx, func(v *table.View) error { return fn(v.Rows()) })
}

// tableItems reads the items of one table, whatever space it is asked for. It lets Changes compare tables in
// different spaces.
type tableItems struct {
	store.Reader
	space store.Space // 0 if the table does not exist
}

// itemsIn returns the items of the table called name in r. It finds the table by the definition in r itself, so it
// needs no lock.
func itemsIn(r store.Reader, name string) (*tableItems, error) {
	t := &tableItems{Reader: r}
	if r == nil {
		return t, nil
	}
	row, ok, err := r.Get(table.CatalogueSpace, definitionsPartition, []byte(name))
	if err != nil || !ok {
		return t, err
	}
	var def table.Definition
	err = json.Unmarshal(row, &def)
	t.space = def.Space
	return t, err
}

// Scan implements [store.Reader].
func (t *tableItems) Scan(_ store.Space, s store.Span) iter.Seq2[store.Row, error] {
	if t.space == 0 {
		return func(func(store.Row, error) bool) {}
	}
	return t.Reader.Scan(t.space, s)
}

func itemOfRow(r *store.Row) attr.Item {
	if r == nil {
		return nil
	}
	return attr.Item(r.Value)
}
