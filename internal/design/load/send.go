package load

import (
	"context"
	"fmt"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/wire"
)

// send sends a write and returns the capacity that it consumed.
func (t *trial) send(ctx context.Context, in wire.Request) ([]wire.ConsumedCapacity, error) {
	indexes := new("INDEXES")
	one := func(c *wire.ConsumedCapacity, err error) ([]wire.ConsumedCapacity, error) {
		if err != nil || c == nil {
			return nil, err
		}
		return []wire.ConsumedCapacity{*c}, nil
	}
	switch in := in.(type) {
	case *wire.PutItemInput:
		asked := *in
		asked.ReturnConsumedCapacity = indexes
		out, err := t.service.PutItem(ctx, &asked)
		if err != nil {
			return nil, err
		}
		return one(out.ConsumedCapacity, nil)
	case *wire.UpdateItemInput:
		asked := *in
		asked.ReturnConsumedCapacity = indexes
		out, err := t.service.UpdateItem(ctx, &asked)
		if err != nil {
			return nil, err
		}
		return one(out.ConsumedCapacity, nil)
	case *wire.DeleteItemInput:
		asked := *in
		asked.ReturnConsumedCapacity = indexes
		out, err := t.service.DeleteItem(ctx, &asked)
		if err != nil {
			return nil, err
		}
		return one(out.ConsumedCapacity, nil)
	case *wire.TransactWriteItemsInput:
		asked := *in
		asked.ReturnConsumedCapacity = indexes
		out, err := t.service.TransactWriteItems(ctx, &asked)
		if err != nil {
			return nil, err
		}
		return out.ConsumedCapacity, nil
	}
	return nil, fmt.Errorf("%v is not a write", in.Op())
}

// remove deletes an item, so that a put writes a new one.
func (t *trial) remove(ctx context.Context, e *model.Entity, it compile.Item) error {
	var key attr.Builder
	for _, a := range e.Table.Keys() {
		key.Add(a.Name, it.Attributes.Get(a.Name))
	}
	_, err := t.service.DeleteItem(ctx, &wire.DeleteItemInput{TableName: &e.Table.Name, Key: key.Item()})
	return err
}

// add adds the units of one request.
func (t *trial) add(all []wire.ConsumedCapacity) {
	if t.used == nil {
		t.used = map[spaceID][]float64{}
	}

	total := 0.0
	use := func(table, index string, units *float64) {
		if units != nil && *units > 0 {
			id := spaceID{table, index}
			t.used[id] = append(t.used[id], *units)
			total += *units
		}
	}
	for _, c := range all {
		name := ""
		if c.TableName != nil {
			name = *c.TableName
		}
		if c.Table != nil {
			use(name, "", c.Table.CapacityUnits)
		}
		for index, units := range c.GlobalSecondaryIndexes {
			use(name, index, units.CapacityUnits)
		}
		for index, units := range c.LocalSecondaryIndexes {
			use(name, index, units.CapacityUnits)
		}
	}

	t.totals = append(t.totals, total)
}

// keyOf returns the key of an item of an entity, as text that only this key has.
func keyOf(e *model.Entity, it attr.Item) string {
	var key attr.Builder
	for _, a := range e.Table.Keys() {
		key.Add(a.Name, it.Get(a.Name))
	}
	return string(key.Item())
}
