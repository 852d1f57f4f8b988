package sortkey

import (
	"bytes"
	"context"
	"sync"

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
	g := gets.Get().(*get)
	defer g.free()
	g.of(&opGet, t.name, "")
	if err := g.parse(args); err != nil {
		return item, err
	}
	schema, err := t.tableKey(ctx)
	if err != nil {
		return item, err
	}
	if g.in.Key, err = g.keyItem(g.in.Key[:0], schema); err != nil {
		return item, err
	}

	g.in.TableName, g.in.ConsistentRead = &t.name, &g.consistent
	g.in.ProjectionExpression, g.in.ExpressionAttributeNames = g.projected(), g.usedNames()
	l := t.itemType.lists.Get().(*list[T])
	defer t.itemType.keep(l)
	switch _, err = t.db.service.GetItem(ctx, &g.in, l.only); {
	case err != nil:
		return item, failed(err)
	case len(l.items) == 0:
		return item, ErrNotFound
	case l.wrong != nil:
		return l.items[0], &DecodeError{t.name, bytes.Clone(g.in.Key), l.wrong}
	}
	return l.items[0], nil
}

// A get is the state of one Get. It goes back to a pool, so nothing may keep a reference to a part of it.
type get struct {
	call
	in wire.GetItemInput
}

var gets = sync.Pool{New: func() any { return new(get) }}

func (g *get) free() {
	if discard != nil && discard(&g.call, g) {
		return
	}
	key := g.in.Key[:0]
	if cap(key) > keepBytes {
		key = nil
	}
	g.call.release()
	g.in = wire.GetItemInput{Key: key}
	gets.Put(g)
}

// Put writes an item. It replaces the item with the same key, if there is one. Options are [If] and [Old].
func (t *TableOf[T]) Put(ctx context.Context, item T, opts ...Option) error {
	if ctx == nil {
		return noContext("TableOf.Put")
	}
	if err := t.notIndex(); err != nil {
		return err
	}
	c := newWrite(&opPut, t.name)
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
	return t.storeOld(ctx, &c.call, old)
}

// Delete deletes the item with a key, if there is one. Options are [If] and [Old].
func (t *TableOf[T]) Delete(ctx context.Context, args ...any) error {
	if ctx == nil {
		return noContext("TableOf.Delete")
	}
	c := newWrite(&opDelete, t.name)
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
	return t.storeOld(ctx, &c.call, out.Attributes)
}

// Update applies an update expression to the item with a key, or creates the item, and returns the item after the
// change. Write the expression as in [If]: SET total = total + :n, state = 'PAID'. Placeholders take the values in
// the order in which they first appear; the options [If] and [Old] come after the values. If the new item does not
// fit T, the error is a [*DecodeError], but the item has been written.
func (t *TableOf[T]) Update(ctx context.Context, key Key, update string, args ...any) (item T, err error) {
	if ctx == nil {
		return item, noContext("TableOf.Update")
	}
	c := newWrite(&opUpdate, t.name)
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
	misfit := t.storeOld(ctx, &c.call, old)
	if err := decode(out.Attributes, &item); err != nil {
		misfit = &DecodeError{t.name, it, err}
	}
	return item, misfit
}

// A write is the state of one Put, Delete or Update. It goes back to a pool, so nothing may keep a reference to a
// part of it.
type write struct {
	call
	put    wire.PutItemInput
	delete wire.DeleteItemInput
	update wire.UpdateItemInput
}

var writes = sync.Pool{New: func() any { return new(write) }}

func newWrite(o *operation, table string) *write {
	w := writes.Get().(*write)
	w.of(o, table, "")
	return w
}

func (w *write) free() {
	if discard != nil && discard(&w.call, w) {
		return
	}
	w.call.release()
	switch {
	case w.put.TableName != nil:
		w.put = wire.PutItemInput{}
	case w.delete.TableName != nil:
		w.delete = wire.DeleteItemInput{}
	case w.update.TableName != nil:
		w.update = wire.UpdateItemInput{}
	}
	writes.Put(w)
}
