package sortkey

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// Collect returns all items that a loop such as [TableOf.Query] yields. If the loop yields an error, Collect stops
// and returns the items before the error, and the error. All items must fit in memory:
//
//	songs, err := sortkey.Collect(music.Query(ctx, "Nina"))
func Collect[T any](loop iter.Seq2[T, error]) (list []T, err error) {
	if loop == nil {
		return nil, misuse("Collect: the loop is nil")
	}
	for item, err := range loop {
		if err != nil {
			return list, err
		}
		list = append(list, item)
	}
	return list, nil
}

// Count returns how many items [TableOf.Query] yields for the same arguments. If the arguments contain no values of a
// key, it returns how many items [TableOf.Scan] yields. Count reads all of these items but decodes none. Options are
// [Where] and [Consistent].
func (t *TableOf[T]) Count(ctx context.Context, args ...any) (int, error) {
	if ctx == nil {
		return 0, noContext("TableOf.Count")
	}
	c := newCall(&opCount, t.name, t.index)
	defer c.free()
	if err := t.prepare(ctx, c, args); err != nil {
		return 0, err
	}
	if c.query.Select = selectCount; c.scan != nil {
		c.scan.Select = selectCount
	}
	for count := 0; ; {
		n, err := c.page(ctx, t.db.service, nil, nil)
		if err != nil {
			return 0, t.db.ended(ctx, failed(err))
		}
		count += int(n)
		if c.start == nil {
			return count, nil
		}
		if err := t.db.ended(ctx, nil); err != nil {
			return 0, err
		}
	}
}

var selectCount = new("COUNT")

// GetMany returns the items with any number of keys, in the order of the keys, as they were at one moment. It returns
// a nil pointer for a key that no item has, and for an item that does not fit T. Its error joins a [*DecodeError] for
// each item that does not fit. It returns the other items all the same.
func (t *TableOf[T]) GetMany(ctx context.Context, keys []Key) ([]*T, error) {
	if ctx == nil {
		return nil, noContext("TableOf.GetMany")
	}
	schema, err := t.tableKey(ctx)
	if err != nil {
		return nil, err
	}
	items := make([]attr.Item, len(keys))
	for i, key := range keys {
		if items[i], err = t.manyKey(schema, key); err != nil {
			return nil, &usageError{err: fmt.Errorf("%w (key %d of GetMany)", err, i+1)}
		}
	}

	var list []*T
	var misfits []error
	err = t.db.View(ctx, func(ctx context.Context) error {
		list, misfits = nil, nil
		found := make(map[string]attr.Item, len(items))
		if err := t.batches(ctx, schema, items, found); err != nil {
			return err
		}
		list = make([]*T, len(items))
		for i, key := range items {
			it, ok := found[string(key)]
			if !ok {
				continue
			}
			item := new(T)
			if wrong := decode(it, item); wrong != nil {
				misfits = append(misfits, &DecodeError{t.name, key, wrong})
				continue
			}
			list[i] = item
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, errors.Join(misfits...)
}

// PutMany writes any number of items. Each replaces the item with the same key; if several items have the same key,
// the last one stays. PutMany is the fastest way to fill a table: it writes a few thousand items at a time. On disk,
// unless the table has a stream, it writes 10,000 items or more as sorted files of up to 64 MB, and adds these files
// to the store.
//
// Other readers can see the first items before the rest is written. If [TableOf.Put] would refuse an item, PutMany
// ends with an error that says which item. After an error the table may have some of the items that came before; it
// is safe to put all items again. With the context of a [DB.Update], all puts are part of that Update. PutMany is not
// a request of DynamoDB, so no [Observer] sees it, and no simulated fault affects it.
//
// PutMany holds no lock while items yields the next item, so items may use the database itself.
func (t *TableOf[T]) PutMany(ctx context.Context, items iter.Seq[T]) error {
	if ctx == nil {
		return noContext("TableOf.PutMany")
	}
	if items == nil {
		return misuse("PutMany: the items are nil")
	}
	if _, err := t.tableKey(ctx); err != nil {
		return t.db.ended(ctx, err)
	}
	bulk, err := t.db.service.Bulk(t.name)
	if err != nil {
		return failed(err)
	}
	maxBytes := 4 << 20
	if bulk.Loads() {
		maxBytes = 64 << 20
	}

	part := bulk.Part()
	write := func() error {
		if err := t.db.ended(ctx, nil); err != nil {
			return err
		}
		defer part.Reset()
		return failed(bulk.Write(ctx, []*api.BulkPart{part}))
	}
	n := 0
	for item := range items {
		n++
		if err := t.addTo(ctx, part, item); err != nil {
			return fmt.Errorf("%w (item %d of PutMany)", err, n)
		}
		if ctx.Err() == nil && part.Bytes() < maxBytes {
			continue
		}
		if err := write(); err != nil {
			return err
		}
	}
	return write()
}

// addTo encodes an item and adds it to a part of a bulk put.
func (t *TableOf[T]) addTo(ctx context.Context, part *api.BulkPart, item T) error {
	it, err := attr.MarshalItem(item)
	if err != nil {
		return misuse("table %s: %w", t.name, err)
	}
	if err := t.checkTimes(ctx, it); err != nil {
		return err
	}
	if err := part.Put(it); err != nil {
		return t.refusedItem(ctx, it, err)
	}
	return nil
}

// manyKey returns the primary key that has the values in key.
func (t *TableOf[T]) manyKey(schema *keycond.Schema, key Key) (attr.Item, error) {
	c := call{choices: choices{operation: &opMany}, table: t.name}
	if err := c.addKey(key); err != nil {
		return nil, err
	}
	return c.keyItem(nil, schema)
}

// batches reads the items with the given keys, at most [api.MaxBatchKeys] at a time. It adds them to the map found
// under their keys.
func (t *TableOf[T]) batches(
	ctx context.Context, schema *keycond.Schema, keys []attr.Item, found map[string]attr.Item,
) error {
	asked := make(map[string]bool, len(keys)) // skip repeated keys, which BatchGetItem refuses
	var left []attr.Item
	for _, key := range keys {
		if !asked[string(key)] {
			asked[string(key)] = true
			left = append(left, key)
		}
	}

	for len(left) > 0 {
		batch := left[:min(len(left), api.MaxBatchKeys)]
		left = left[len(batch):]
		out, err := t.db.service.BatchGetItem(ctx, &wire.BatchGetItemInput{
			RequestItems: map[string]wire.KeysAndAttributes{t.name: {Keys: batch, ConsistentRead: new(true)}},
		})
		if err != nil {
			return t.db.ended(ctx, failed(err))
		}
		for _, it := range out.Responses[t.name] {
			found[string(schema.Key(it))] = it
		}

		again := out.UnprocessedKeys[t.name].Keys
		if len(again) == len(batch) {
			return &Error{
				Code: codeThrottled, Message: "The database has processed none of the keys.", status: statusRetry,
			}
		}
		left = append(left, again...)
		if err := t.db.ended(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}
