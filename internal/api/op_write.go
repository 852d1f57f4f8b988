package api

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/internal/table"
)

// Values of ReturnValues and of ReturnValuesOnConditionCheckFailure.
const (
	returnNone   = "NONE"
	returnAllOld = "ALL_OLD"
)

// writing is what writes of one item have in common.
type writing struct {
	request
	mode, metrics, returns, onFailure *string
	cond                              *expr.Condition
}

// open checks what can be checked without the table and reads the condition.
func (w *writing) open(src *string, expected map[string]wire.ExpectedAttributeValue, operator *string) (err error) {
	if r := value(w.returns); r != "" && r != returnNone && r != returnAllOld {
		return w.op.Invalid("ReturnValues can only be ALL_OLD or NONE")
	}
	if err := w.request.open(); err != nil {
		return err
	}
	if w.cond, err = w.writeCondition(src, expected, operator); err != nil {
		return err
	}
	return w.close()
}

// written is the answer of a write, in the parts that outputs share.
type written struct {
	attributes attr.Item
	consumed   *wire.ConsumedCapacity
	metrics    *wire.ItemCollectionMetrics
	use        use
	refused    bool // by the condition
}

// apply runs a write in a transaction and makes the answer of its change.
func (w *writing) apply(ctx context.Context, s *Service, name *string, key attr.Item, write func(*table.Tx, *table.Table) (table.Change, error)) (out written, err error) {
	err = s.db.Update(ctx, func(tx *table.Tx) error {
		out = written{}
		t, err := s.lookup(tx.Table, name)
		if err != nil {
			return err
		}
		change, err := write(tx, t)
		out.use = use{table: t.Name(), Capacity: change.Capacity}
		if err != nil {
			err = w.failed(err)
			e, ok := errors.AsType[*wire.Error](err)
			out.refused = ok && e.Code == wire.CodeConditionFailed
			return err
		}
		if value(w.returns) == returnAllOld && change.Old != nil {
			out.attributes = bytes.Clone(change.Old)
		}
		out.consumed = consumed(w.mode, value(name), &change.Capacity)
		out.metrics, err = collectionMetrics(w.metrics, tx, t, key)
		return err
	})
	if err == nil || out.refused {
		consume(ctx, out.use.table, true, &out.use.Capacity)
	}
	return out, err
}

// failed gives the error of a failed condition the item, when it was asked
// for.
func (w *writing) failed(err error) error {
	e, ok := errors.AsType[*table.Error](err)
	if !ok || e.Kind != table.ConditionFailed {
		return err
	}
	var item attr.Item
	if value(w.onFailure) == returnAllOld && e.Item != nil {
		item = bytes.Clone(e.Item)
	}
	return wire.ConditionalCheckFailed(item)
}

// collectionMetrics measures the item collection of a key when the request
// asks for its size and the table has local indexes.
func collectionMetrics(mode *string, tx *table.Tx, t *table.Table, key attr.Item) (*wire.ItemCollectionMetrics, error) {
	if value(mode) != "SIZE" || !t.HasLocal() {
		return nil, nil
	}
	hash, size, err := tx.Measure(t, key)
	if err != nil {
		return nil, err
	}
	const gigabyte = 1 << 30
	low := float64(size / gigabyte)
	return &wire.ItemCollectionMetrics{ItemCollectionKey: hash, SizeEstimateRangeGB: []float64{low, low + 1}}, nil
}

// PutItem writes one item.
func (s *Service) PutItem(ctx context.Context, in *wire.PutItemInput) (*wire.PutItemOutput, error) {
	return call(ctx, s, wire.OpPutItem, in, s.putItem)
}

func (s *Service) putItem(ctx context.Context, in *wire.PutItemInput) (*wire.PutItemOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	if err := in.CheckParams(); err != nil {
		return nil, err
	}
	if err := wire.OpPutItem.FaultError(in.Faults, ""); err != nil {
		return nil, err
	}
	if in.Item.Size() > table.MaxItemBytes {
		return nil, wire.OpPutItem.Invalid("Item size has exceeded the maximum allowed size")
	}
	w := writing{
		request: request{op: wire.OpPutItem, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues},
		mode:    in.ReturnConsumedCapacity, metrics: in.ReturnItemCollectionMetrics,
		returns: in.ReturnValues, onFailure: in.ReturnValuesOnConditionCheckFailure,
	}
	if err := w.open(in.ConditionExpression, in.Expected, in.ConditionalOperator); err != nil {
		return nil, err
	}
	out, err := w.apply(ctx, s, in.TableName, in.Item, func(tx *table.Tx, t *table.Table) (table.Change, error) {
		return tx.Put(t, in.Item, w.cond)
	})
	return &wire.PutItemOutput{Attributes: out.attributes, ConsumedCapacity: out.consumed, ItemCollectionMetrics: out.metrics}, err
}

// DeleteItem deletes one item.
func (s *Service) DeleteItem(ctx context.Context, in *wire.DeleteItemInput) (*wire.DeleteItemOutput, error) {
	return call(ctx, s, wire.OpDeleteItem, in, s.deleteItem)
}

func (s *Service) deleteItem(ctx context.Context, in *wire.DeleteItemInput) (*wire.DeleteItemOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	if err := in.CheckParams(); err != nil {
		return nil, err
	}
	if err := wire.OpDeleteItem.FaultError(in.Faults, ""); err != nil {
		return nil, err
	}
	w := writing{
		request: request{op: wire.OpDeleteItem, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues},
		mode:    in.ReturnConsumedCapacity, metrics: in.ReturnItemCollectionMetrics,
		returns: in.ReturnValues, onFailure: in.ReturnValuesOnConditionCheckFailure,
	}
	if err := w.open(in.ConditionExpression, in.Expected, in.ConditionalOperator); err != nil {
		return nil, err
	}
	out, err := w.apply(ctx, s, in.TableName, in.Key, func(tx *table.Tx, t *table.Table) (table.Change, error) {
		return tx.Delete(t, in.Key, w.cond)
	})
	return &wire.DeleteItemOutput{Attributes: out.attributes, ConsumedCapacity: out.consumed, ItemCollectionMetrics: out.metrics}, err
}

// MaxBatchWrites is how many writes a BatchWriteItem may hold.
const MaxBatchWrites = 25

// BatchWriteItem puts and deletes up to 25 items of any tables. All of it is
// applied or, when one write is refused, nothing.
func (s *Service) BatchWriteItem(ctx context.Context, in *wire.BatchWriteItemInput) (*wire.BatchWriteItemOutput, error) {
	return call(ctx, s, wire.OpBatchWriteItem, in, s.batchWrite)
}

func (s *Service) batchWrite(ctx context.Context, in *wire.BatchWriteItemInput) (*wire.BatchWriteItemOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(in.RequestItems))
	if err := checkWrites(in, names); err != nil {
		return nil, err
	}
	var out *wire.BatchWriteItemOutput
	var uses []use
	err := s.db.Update(ctx, func(tx *table.Tx) error {
		out = &wire.BatchWriteItemOutput{UnprocessedItems: map[string][]wire.WriteRequest{}}
		uses = uses[:0]
		tables := make([]*table.Table, len(names))
		for i, name := range names {
			t, err := s.lookup(tx.Table, &name)
			if err != nil {
				return err
			}
			tables[i] = t
		}
		seen := itemSet{} // of all tables: one may be there by its name and by its ARN
		for i, name := range names {
			used, err := batchTable(tx, tables[i], in.RequestItems[name], seen)
			if err != nil {
				return err
			}
			uses = append(uses, use{table: tables[i].Name(), Capacity: used})
			if cc := consumed(in.ReturnConsumedCapacity, name, &used); cc != nil {
				out.ConsumedCapacity = append(out.ConsumedCapacity, *cc)
			}
			metrics, err := batchMetrics(in.ReturnItemCollectionMetrics, tx, tables[i], in.RequestItems[name])
			if err != nil {
				return err
			}
			if metrics != nil {
				if out.ItemCollectionMetrics == nil {
					out.ItemCollectionMetrics = map[string][]wire.ItemCollectionMetrics{}
				}
				out.ItemCollectionMetrics[name] = metrics
			}
		}
		return nil
	})
	if err == nil {
		consumeAll(ctx, true, uses)
	}
	return out, err
}

// checkWrites refuses requests that are not one write, too many of them, and
// values that are not allowed. Source: dynalite, test/batchWriteItem.js.
func checkWrites(in *wire.BatchWriteItemInput, names []string) error {
	total := 0
	for _, name := range names {
		for _, r := range in.RequestItems[name] {
			// Neither and both have the same text: dynalite, test/batchWriteItem.js,
			// "empty item in RequestItems".
			if (r.PutRequest == nil) == (r.DeleteRequest == nil) {
				return wire.OpBatchWriteItem.Invalid("Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes")
			}
			total++
		}
	}
	if total > MaxBatchWrites {
		return wire.OpBatchWriteItem.Invalid("Too many items requested for the BatchWriteItem call")
	}
	return wire.OpBatchWriteItem.FaultError(in.Faults, "")
}

// batchTable applies the writes to one table. Their items join those seen.
func batchTable(tx *table.Tx, t *table.Table, writes []wire.WriteRequest, seen itemSet) (used table.Capacity, err error) {
	keys := make([]attr.Item, len(writes))
	for i, r := range writes {
		if r.DeleteRequest != nil {
			keys[i] = r.DeleteRequest.Key
			continue
		}
		if keys[i], err = t.KeyOf(r.PutRequest.Item); err != nil {
			return used, batchKeyError(t, r.PutRequest.Item, err)
		}
	}
	if err := seen.addAll(t, keys); err != nil {
		return used, err
	}
	for i, r := range writes {
		var change table.Change
		if r.PutRequest != nil {
			change, err = tx.Put(t, r.PutRequest.Item, nil)
		} else {
			change, err = tx.Delete(t, keys[i], nil)
		}
		if err != nil {
			return used, err
		}
		used.Add(change.Capacity)
	}
	return used, nil
}

// batchKeyError words what is wrong with the key of an item to put: in a batch
// a key attribute that is missing or of another kind is said as of a key.
// Source: dynalite, test/batchWriteItem.js.
func batchKeyError(t *table.Table, item attr.Item, err error) error {
	for _, a := range t.Key().Attributes() {
		if item.Get(a.Name).Kind() != a.Kind {
			return wire.Validation("The provided key element does not match the schema")
		}
	}
	return err
}

// batchMetrics measures the item collections that the writes touched, each
// once.
func batchMetrics(mode *string, tx *table.Tx, t *table.Table, writes []wire.WriteRequest) (out []wire.ItemCollectionMetrics, err error) {
	for _, r := range writes {
		key := attr.Item(nil)
		if r.PutRequest != nil {
			key = r.PutRequest.Item
		} else {
			key = r.DeleteRequest.Key
		}
		m, err := collectionMetrics(mode, tx, t, key)
		if err != nil || m == nil {
			return nil, err
		}
		if !slices.ContainsFunc(out, func(o wire.ItemCollectionMetrics) bool { return o.ItemCollectionKey.Equal(m.ItemCollectionKey) }) {
			out = append(out, *m)
		}
	}
	return out, nil
}
