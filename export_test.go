package sortkey

import (
	"context"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
)

// GetBelow reads an item by the function below the operations, for benchmarks.
func GetBelow(ctx context.Context, db *DB, name string, key attr.Item, visit func(attr.Item)) error {
	return db.tables.ViewItem(ctx, func(view *table.View) error {
		t, err := view.Table(name)
		if err != nil {
			return err
		}
		it, err := view.Get(t, key)
		visit(it)
		return err
	})
}
