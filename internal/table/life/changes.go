package life

import (
	"context"
	"iter"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/capability"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/store"
)

// Changes calls visit with each item of the table called name that differs between the databases before and db, in
// scan order. visit gets the item in before and the item in db; one of them is nil if the item was added or removed.
// If before is nil or does not have the table, Changes visits every item. Items are valid until visit returns. If
// visit returns an error, Changes ends and returns it.
//
// If one of the databases is a fork of the other in memory, the time depends on the number of differences, see
// [capability.Changes]. That is not so if the table was deleted and created again. If ctx belongs to a
// [table.DB.ViewJoined] of one of the databases, Changes compares the rows that this View sees.
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

// tableItems is a Reader of the items of one table. It ignores the space that callers ask for, so that Changes can
// compare two tables in different spaces.
type tableItems struct {
	store.Reader
	space store.Space // 0 if the table does not exist
}

// itemsIn returns the items of the table called name in r, which may be nil.
func itemsIn(r store.Reader, name string) (t *tableItems, err error) {
	t = &tableItems{Reader: r}
	if r != nil {
		t.space, err = spaceOf(r, name)
	}
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
