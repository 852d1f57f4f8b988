package models

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/tabledef"
	"github.com/sortkey/sortkey/sdk"
)

// ErrOther means that a table already exists, but with other keys or indexes than in the model or template.
var ErrOther = errors.New("already exists with other keys")

// Loaded says what [Ensure] or a [Loader] loaded.
type Loaded struct {
	// Found is true if there was nothing to load, because the tables existed with all items.
	Found bool
	// Tables is the number of tables in the model, the template or the data.
	//
	// Items is the number of items in the dataset of a model, which may have fewer items than the model declares.
	// Scale is the share of the declared items that the dataset has, from 0 to 1.
	Tables, Items int
	Scale         float64
	// Created is the number of tables created. Written is the number of items written; it includes items that existed
	// before.
	Created, Written int
	// Deleted is the number of items that requests in the data deleted.
	Deleted int
	// Model is the loaded model, or nil after loading a template or data.
	Model *model.Model
}

// Ensure creates the tables of m that do not exist, and writes the items of m, including generated ones. If a table
// has at least as many items as the model, Ensure does not write to it. If a table has fewer items, an earlier load
// may have been interrupted, so Ensure writes all its items again. Its error wraps [ErrOther] if a table has other
// keys or indexes than the model declares.
func Ensure(ctx context.Context, db *sortkey.DB, m *model.Model, o dataset.Options) (Loaded, error) {
	l := Loaded{Tables: len(m.Tables), Model: m}
	items, scale, err := itemsOf(ctx, m, o)
	if err != nil {
		return l, err
	}
	l.Scale = scale
	for _, t := range m.Tables {
		l.Items += len(items[t])
		created, written, err := ensureTable(ctx, db, t, items[t])
		if err != nil {
			return l, fmt.Errorf("%s: table %s: %w", m.Name, t.Name, err)
		}
		if created {
			l.Created++
		}
		l.Written += written
	}
	l.Found = l.Created == 0 && l.Written == 0
	return l, nil
}

func ensureTable(
	ctx context.Context, db *sortkey.DB, t *model.Table, items []attr.Item,
) (created bool, written int, err error) {
	s, err := tabledef.Parse(t.CreateRequest())
	if err != nil {
		return false, 0, err
	}
	if created, err = define(ctx, sdk.Client(db), s); err != nil {
		return false, 0, err
	}
	rows := sortkey.Table[attr.Item](db, t.Name)
	if n, err := rows.Count(ctx); err != nil || n >= len(items) {
		return created, 0, err
	}
	return created, len(items), rows.PutMany(ctx, slices.Values(items))
}

// itemsOf builds the dataset of m, and returns its items by table and its scale. If an item is invalid, the error
// says where in the model file the item is.
func itemsOf(
	ctx context.Context, m *model.Model, o dataset.Options,
) (items map[*model.Table][]attr.Item, scale float64, err error) {
	w, err := dataset.Build(ctx, m, o)
	if err != nil {
		return nil, 0, err
	}
	items = map[*model.Table][]attr.Item{}
	for _, it := range w.Items {
		items[it.Table] = append(items[it.Table], it.Attributes)
	}
	return items, w.Scale, w.Close()
}
