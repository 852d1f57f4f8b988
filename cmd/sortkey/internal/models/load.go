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

// ErrOther is the error of [Ensure] for a table that does not match the model.
var ErrOther = errors.New("already exists with other keys")

// Loaded says what [Ensure] or a [Loader] loaded.
type Loaded struct {
	// Found is true if there was nothing to load, because the tables existed with all items.
	Found bool
	// Tables and Items are the numbers of tables and items in the model. Scale is the share of the declared items
	// that Items counts, from 0 to 1.
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
// has at least as many items as the model, Ensure does not write to it. If it has fewer, an earlier load may have
// been interrupted, and Ensure writes all its items again. The error wraps [ErrOther] if a table has other keys or
// indexes.
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

// itemsOf returns the items of m by table. It builds a dataset, so for an invalid item the error has its place in the
// file.
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
