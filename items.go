package sortkey

import (
	"bytes"
	"context"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/lex"
	"github.com/sortkey/sortkey/internal/wire"
)

// Get returns the item with a key. The error is [ErrNotFound] if no item has the key. [TableOf.GetMany] reads several
// items as they were at one moment.
func (t *TableOf[T]) Get(ctx context.Context, args ...any) (item T, err error) {
	if ctx == nil {
		return item, noContext("TableOf.Get")
	}
	c := newCall(&opGet, t.name, "")
	defer c.free()
	if err := c.parse(args); err != nil {
		return item, err
	}
	schema, err := t.tableKey(ctx)
	if err != nil {
		return item, err
	}
	if c.get.Key, err = c.keyItem(c.get.Key[:0], schema); err != nil {
		return item, err
	}

	c.get.TableName, c.get.ConsistentRead = &t.name, &c.consistent
	c.get.ProjectionExpression, c.get.ExpressionAttributeNames = c.projected(), c.usedNames()
	l := t.itemType.lists.Get().(*list[T])
	defer t.itemType.keep(l)
	switch _, err = t.db.service.GetItem(ctx, &c.get, l.only); {
	case err != nil:
		return item, failed(err)
	case len(l.items) == 0:
		return item, ErrNotFound
	case l.wrong != nil:
		return l.items[0], &DecodeError{t.name, bytes.Clone(c.get.Key), l.wrong}
	}
	return l.items[0], nil
}

// Put writes an item. It replaces the item with the same key, if there is one. Options are [If] and [Old].
func (t *TableOf[T]) Put(ctx context.Context, item T, opts ...Option) error {
	if ctx == nil {
		return noContext("TableOf.Put")
	}
	if err := t.notIndex(); err != nil {
		return err
	}
	c := newCall(&opPut, t.name, "")
	defer c.free()
	if err := c.options(opts); err != nil {
		return err
	}

	it, err := attr.MarshalItem(item)
	if err != nil {
		return misuse("table %s: %w", t.name, err)
	}
	if err := t.checkTimes(ctx, it); err != nil {
		return err
	}
	c.put = wire.PutItemInput{
		TableName: &t.name, Item: it, ConditionExpression: c.condition, ExpressionAttributeNames: c.usedNames(),
		ExpressionAttributeValues: c.boundValues(), ReturnValues: c.oldValues(),
		ReturnValuesOnConditionCheckFailure: allOld,
	}
	old, err := t.db.service.PutReturning(ctx, &c.put)
	if err != nil {
		return t.refusedItem(ctx, it, err)
	}
	return t.storeOld(ctx, c, old)
}

// Delete deletes the item with a key, if there is one. Options are [If] and [Old].
func (t *TableOf[T]) Delete(ctx context.Context, args ...any) error {
	if ctx == nil {
		return noContext("TableOf.Delete")
	}
	c := newCall(&opDelete, t.name, "")
	defer c.free()
	if err := c.parse(args); err != nil {
		return err
	}
	schema, err := t.tableKey(ctx)
	if err != nil {
		return err
	}

	key, err := c.keyItem(nil, schema)
	if err != nil {
		return err
	}
	c.delete = wire.DeleteItemInput{
		TableName: &t.name, Key: key, ConditionExpression: c.condition, ExpressionAttributeNames: c.usedNames(),
		ExpressionAttributeValues: c.boundValues(), ReturnValues: c.oldValues(),
		ReturnValuesOnConditionCheckFailure: allOld,
	}
	out, err := t.db.service.DeleteItem(ctx, &c.delete)
	if err != nil {
		return failed(err)
	}
	return t.storeOld(ctx, c, out.Attributes)
}

// Update applies an update expression to the item with a key, or creates the item, and returns the item after the
// change. Write the expression as in [If]: SET total = total + :n, state = 'PAID'. Placeholders take the values in
// the order in which they first appear; the options [If] and [Old] come after the values. If the new item does not
// fit T, the error is a [*DecodeError], but the item has been written.
func (t *TableOf[T]) Update(ctx context.Context, key Key, update string, args ...any) (item T, err error) {
	if ctx == nil {
		return item, noContext("TableOf.Update")
	}
	c := newCall(&opUpdate, t.name, "")
	defer c.free()
	if err := c.addKey(key); err != nil {
		return item, err
	}
	for _, arg := range args {
		if o, ok := arg.(Option); !ok {
			c.args = append(c.args, arg)
		} else if err := c.option(o); err != nil {
			return item, err
		}
	}
	source, err := c.expression(update, c.args, lex.UpdateForm)
	if err != nil {
		return item, err
	}
	schema, err := t.tableKey(ctx)
	if err != nil {
		return item, err
	}
	it, err := c.keyItem(nil, schema)
	if err != nil {
		return item, err
	}

	c.update = wire.UpdateItemInput{
		TableName: &t.name, Key: it, UpdateExpression: source, ConditionExpression: c.condition,
		ExpressionAttributeNames: c.usedNames(), ExpressionAttributeValues: c.boundValues(), ReturnValues: allNew,
		ReturnValuesOnConditionCheckFailure: allOld,
	}
	var old attr.Item
	keep := &old
	if c.old == nil {
		keep = nil
	}
	out, err := t.db.service.UpdateKeeping(ctx, &c.update, keep)
	if err != nil {
		return item, failed(err)
	}
	misfit := t.storeOld(ctx, c, old)
	if err := decode(out.Attributes, &item); err != nil {
		misfit = &DecodeError{t.name, it, err}
	}
	return item, misfit
}
