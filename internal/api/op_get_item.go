package api

import (
	"bytes"
	"context"
	"slices"
	"sync"

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
	g := gets.Get().(*get)
	defer g.release()
	g.in, g.visit = in, visit
	if err := s.getItem(ctx, g); err != nil {
		return nil, err
	}
	return g.out.ConsumedCapacity, nil
}

// serveGetItem is GetItem for JSON. It encodes the item into dst directly from the memory of the store.
func (s *Service) serveGetItem(ctx context.Context, body, dst []byte) ([]byte, error) {
	g := gets.Get().(*get)
	defer g.release()
	if err := wire.Decode(body, &g.body); err != nil {
		return nil, err
	}
	g.in, g.dst = &g.body, dst
	if err := s.getItem(ctx, g); err != nil {
		return nil, err
	}
	if !g.found {
		return wire.AppendJSON(dst, &g.out), nil
	}
	return appendMembers(g.dst, &g.out), nil
}

// A get is the state of one GetItem. It is pooled, so nothing may refer to it after release.
type get struct {
	readParams
	service *Service
	in      *wire.GetItemInput
	body    wire.GetItemInput // the memory for in if the input came as JSON
	visit   func(attr.Item)   // called with the item; if it is nil, the item is appended to dst instead
	dst     []byte
	found   bool
	budget  *budget
	use     use
	out     wire.GetItemOutput
	read    func(*table.View) error // the method view, bound once
}

var gets = sync.Pool{New: func() any {
	g := new(get)
	g.read = g.view
	return g
}}

func (g *get) release() {
	*g = get{read: g.read}
	gets.Put(g)
}

func (s *Service) getItem(ctx context.Context, g *get) error {
	g.service = s
	ctx, c, err := s.begin(ctx, wire.OpGetItem, g.in)
	g.budget = s.budget(ctx, false)
	if err == nil {
		err = g.check()
	}
	if err == nil {
		err = s.db.ViewItem(ctx, g.read)
	}
	if err == nil {
		consume(ctx, g.use.table, false, &g.use.Capacity)
		found := 0
		if g.found {
			found = 1
		}
		event.Of(ctx).Got(1, found)
	}
	return c.end(ctx, err)
}

// check does the checks of the input that do not depend on the table.
func (g *get) check() error {
	in := g.in
	if err := wire.Validate(wire.OpGetItem, in); err != nil {
		return err
	}
	if err := checkForm(wire.OpGetItem, in, in.Faults, slices.Contains(in.AttributesToGet, "")); err != nil {
		return err
	}
	g.op, g.names, g.consistent = wire.OpGetItem, in.ExpressionAttributeNames, value(in.ConsistentRead)
	return g.parseProjection(in.ProjectionExpression, in.AttributesToGet)
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

// view reads the item.
func (g *get) view(view *table.View) error {
	t, err := g.service.lookup(view.Table, g.in.TableName)
	if err != nil {
		return err
	}
	item, err := readItem(view, t, g.in.Key, g.consistent)
	if err != nil {
		return err
	}
	if err := g.checkProjection(t); err != nil {
		return err
	}
	units := table.ReadUnits(t.BilledSize(item), g.consistent)
	if err := g.budget.item(t, g.in.Key, units); err != nil {
		return err
	}
	g.budget.spend()

	g.found = item != nil
	switch {
	case !g.found:
	case g.visit != nil:
		g.visit(g.project(item))
	default:
		g.dst = append(g.dst, `{"Item":`...)
		g.dst = g.project(item).AppendJSON(g.dst)
	}

	g.use = use{table: t.Name(), Capacity: table.Capacity{Table: units}}
	g.out.ConsumedCapacity = consumed(g.in.ReturnConsumedCapacity, value(g.in.TableName), &g.use.Capacity)
	return nil
}
