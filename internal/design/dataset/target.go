package dataset

import (
	"context"
	"slices"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/engine"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// Target returns a target that sends requests to the dataset's database. With OnDemand, it first loads the items that
// a request may read. It is safe for concurrent use.
func (w *Dataset) Target() explain.Target { return target{w, explain.InProcess(w.DB)} }

type target struct {
	w *Dataset
	explain.Target
}

func (t target) Do(ctx context.Context, in wire.Request) (wire.Output, []sortkey.Trace, error) {
	if t.w.onDemand {
		if err := t.w.prepare(ctx, in); err != nil {
			return nil, nil, err
		}
	}
	return t.Target.Do(ctx, in)
}

// Fill loads all items that are not in the database yet. It does nothing without OnDemand.
func (w *Dataset) Fill(ctx context.Context) error {
	if !w.onDemand {
		return nil
	}
	w.loading.Lock()
	defer w.loading.Unlock()
	absent := make([]*Item, 0, maxBatch)
	for i := range w.Items {
		if w.Items[i].absent {
			absent = append(absent, &w.Items[i])
		}
		if len(absent) == maxBatch || i == len(w.Items)-1 {
			if err := w.load(ctx, absent); err != nil {
				return err
			}
			absent = absent[:0]
		}
	}
	return nil
}

// prepare loads the items that a request may read into the database.
func (w *Dataset) prepare(ctx context.Context, in wire.Request) error {
	var rows []Row
	var err error
	known := false
	switch in := in.(type) {
	case *wire.QueryInput:
		rows, known, err = w.rowsOfQuery(ctx, in)
	case *wire.GetItemInput:
		rows, known, err = w.rowsOfKeys(ctx, in.TableName, in.Key)
	case *wire.BatchGetItemInput:
		known = true
		for name, keys := range in.RequestItems {
			some, ok, err := w.rowsOfKeys(ctx, &name, keys.Keys...)
			if err != nil {
				return err
			}
			rows, known = append(rows, some...), known && ok
		}
	case *wire.DescribeTableInput, *wire.ListTablesInput:
		return nil
	}
	if err != nil {
		return err
	}
	if !known {
		return w.Fill(ctx)
	}

	w.loading.Lock()
	defer w.loading.Unlock()
	var absent []*Item
	for i := range rows {
		if it := rows[i].Item; it.absent {
			absent = append(absent, it)
		}
	}
	return w.load(ctx, absent)
}

// rowsOfQuery returns the rows that a query may read. It reports false if it cannot determine them, for example
// because the service will refuse the request.
func (w *Dataset) rowsOfQuery(ctx context.Context, in *wire.QueryInput) ([]Row, bool, error) {
	space, err := w.spaceNamed(ctx, in.TableName, in.IndexName)
	if space == nil || err != nil {
		return nil, false, err
	}
	clauses, _ := explain.Clauses(in)
	slice, err := keycond.Of(space.Schema, clauses...)
	if err != nil {
		return nil, false, nil
	}
	part, ok := space.Partition(slice.Partition)
	if !ok {
		return nil, true, nil
	}

	from, to := space.Range(part, slice.Range)
	if n := in.Limit; n != nil && *n > 0 && int(*n) < to-from && len(in.ExclusiveStartKey) == 0 {
		if forward := in.ScanIndexForward; forward == nil || *forward {
			to = from + int(*n)
		} else {
			from = to - int(*n)
		}
	}
	return space.Rows[from:to], true, nil
}

// rowsOfKeys returns the rows of a table with the given keys. It reports false if a key does not fit the table.
func (w *Dataset) rowsOfKeys(ctx context.Context, table *string, keys ...attr.Item) ([]Row, bool, error) {
	space, err := w.spaceNamed(ctx, table, nil)
	if space == nil || err != nil {
		return nil, false, err
	}
	var rows []Row
	for _, key := range keys {
		partition, sort, err := space.Schema.Place(key)
		if err != nil {
			return nil, false, nil
		}
		part, ok := space.Partition(partition)
		if !ok {
			continue
		}
		if i, ok := space.Find(part, sort); ok {
			rows = append(rows, space.Rows[i])
		}
	}
	return rows, true, nil
}

// spaceNamed returns the space of the table or index that a request names, or nil if the model does not have it.
func (w *Dataset) spaceNamed(ctx context.Context, table, index *string) (*Space, error) {
	if table == nil {
		return nil, nil
	}
	t := w.Model.Table(*table)
	if t == nil {
		return nil, nil
	}
	var x *model.Index
	if index != nil {
		if x = t.Index(*index); x == nil {
			return nil, nil
		}
	}
	return w.Space(ctx, t, x)
}

// load loads absent items into the database. The caller must hold w.loading.
func (w *Dataset) load(ctx context.Context, absent []*Item) error {
	for len(absent) > 0 {
		t := absent[0].Table
		n := slices.IndexFunc(absent, func(it *Item) bool { return it.Table != t })
		if n < 0 {
			n = len(absent)
		}
		list := make([]attr.Item, n)
		for i, it := range absent[:n] {
			list[i] = it.Attributes
		}
		if err := engine.Of(w.DB).Service.Load(ctx, t.Name, list); err != nil {
			return err
		}
		for _, it := range absent[:n] {
			it.absent = false
		}
		absent = absent[n:]
	}
	return nil
}
