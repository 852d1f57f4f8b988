package dataset

import (
	"context"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/engine"
)

// Holding returns a dataset with the given tables and items. It puts each item into the table in tables that has the
// same name as the item's own table. If several items have the same key, the database contains the last of them.
func Holding(ctx context.Context, tables []*model.Table, items []Item) (*Dataset, error) {
	w, err := Build(ctx, &model.Model{Tables: tables}, Options{})
	if err != nil {
		return nil, err
	}

	for _, t := range tables {
		var list []attr.Item
		for i := range items {
			if items[i].Table.Name == t.Name {
				list = append(list, items[i].Attributes)
			}
		}
		if err := engine.Of(w.DB).Service.Load(ctx, t.Name, list); err != nil {
			w.Close()
			return nil, err
		}
	}
	w.Items = items
	return w, nil
}

// Example returns the nth value of a field, as Build generates it. Values may repeat.
func Example(f *model.Field, n uint64) (string, error) {
	d, err := newDomain(f, 1, "", 0, 0)
	if err != nil {
		return "", err
	}
	return d.value(0, n, n+1, 0, false), nil
}
