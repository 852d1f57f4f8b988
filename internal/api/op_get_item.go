package api

import (
	"bytes"
	"context"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// GetItem reads one item. If the item exists, GetItem calls visit with it. The item is valid until visit returns.
// GetItem returns the consumed capacity, or nil if the input does not ask for it.
func (s *Service) GetItem(
	ctx context.Context, in *wire.GetItemInput, visit func(attr.Item),
) (*wire.ConsumedCapacity, error) {
	get := func(s *Service, ctx context.Context, in *wire.GetItemInput) (*wire.ConsumedCapacity, error) {
		return s.getItem(ctx, in, visit)
	}
	return call(ctx, s, wire.OpGetItem, in, get)
}

// serveGetItem is GetItem for JSON. It encodes the item into dst directly from the memory of the store.
func (s *Service) serveGetItem(ctx context.Context, body, dst []byte) ([]byte, error) {
	in := new(wire.GetItemInput)
	if err := wire.Decode(body, in); err != nil {
		return nil, err
	}
	start := len(dst)
	used, err := s.GetItem(ctx, in, func(it attr.Item) {
		dst = it.AppendJSON(append(dst[:start], `{"Item":`...))
	})
	out := &wire.GetItemOutput{ConsumedCapacity: used}
	switch {
	case err != nil:
		return nil, err
	case len(dst) == start:
		return wire.AppendJSON(dst, out), nil
	}
	return appendMembers(dst, out), nil
}

func (s *Service) getItem(
	ctx context.Context, in *wire.GetItemInput, visit func(attr.Item),
) (*wire.ConsumedCapacity, error) {
	if err := checkForm(wire.OpGetItem, in, in.Faults, slices.Contains(in.AttributesToGet, "")); err != nil {
		return nil, err
	}
	consistent := value(in.ConsistentRead)
	r := readParams{expressions: expressions{op: wire.OpGetItem, names: in.ExpressionAttributeNames}}
	if err := r.parseProjection(in.ProjectionExpression, in.AttributesToGet); err != nil {
		return nil, err
	}

	b := s.budget(ctx, false)
	var u use
	found := 0
	err := s.db.ViewItem(ctx, func(view *table.View) error {
		t, err := s.lookup(view.Table, in.TableName)
		if err != nil {
			return err
		}
		item, err := readItem(view, t, in.Key, consistent)
		if err == nil {
			err = r.checkProjection(t)
		}
		if err != nil {
			return err
		}
		u = use{table: t.Name(), Capacity: table.Capacity{Table: table.ReadUnits(t.BilledSize(item), consistent)}}
		if err := b.item(t, in.Key, u.Table); err != nil {
			return err
		}
		b.spend()
		if item != nil {
			found = 1
			visit(r.project(item))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	consume(ctx, u.table, false, &u.Capacity)
	event.Of(ctx).Got(1, found)
	return consumed(in.ReturnConsumedCapacity, value(in.TableName), &u.Capacity), nil
}

// readItem returns the item with a key, or nil. The item is valid until the function that was passed to View returns.
func readItem(view *table.View, t *table.Table, key attr.Item, consistent bool) (attr.Item, error) {
	if consistent || !view.Lags() {
		return view.Get(t, key)
	}
	return readLagging(view, t, key)
}

// readLagging reads an item with eventual consistency, so it may return an older version.
func readLagging(view *table.View, t *table.Table, key attr.Item) (item attr.Item, err error) {
	err = view.Eventually(t, nil, func(view *table.View) error {
		item, err = view.Get(t, key)
		item = bytes.Clone(item)
		return err
	})
	return item, err
}
