package api

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// MaxBatchWrites is the maximum number of writes in a BatchWriteItem.
const MaxBatchWrites = 25

// batchWriteItem puts and deletes up to 25 items of any tables. If a write is invalid, it applies none of them. If a
// write exceeds the throughput or conflicts with a transaction, batchWriteItem returns it as unprocessed and applies
// the others.
func (s *Service) batchWriteItem(
	ctx context.Context, in *wire.BatchWriteItemInput,
) (*wire.BatchWriteItemOutput, error) {
	names := slices.Sorted(maps.Keys(in.RequestItems))
	if err := checkWrites(in, names); err != nil {
		return nil, err
	}
	requests, left := leave(ctx, in.RequestItems)
	var out *wire.BatchWriteItemOutput
	var uses []use
	b := s.budget(ctx, true)

	// All writes are one update. The store may call apply again, so apply first resets its counts.
	apply := func(tx *table.Tx) error {
		b.reset()
		out = &wire.BatchWriteItemOutput{UnprocessedItems: map[string][]wire.WriteRequest{}}
		maps.Copy(out.UnprocessedItems, left)
		uses = uses[:0]
		tables := make([]*table.Table, len(names))
		for i, name := range names {
			t, err := s.lookup(tx.Table, &name)
			if err != nil {
				return err
			}
			tables[i] = t
		}

		seen := itemSet{} // one set for all tables, as a request may name the same table by name and by ARN
		for i, name := range names {
			if requests[name] == nil {
				continue // left by a fault
			}
			actions := batchActions(requests[name])
			used, err := batchTable(tx, tables[i], actions, seen, b, s.ongoing)
			if e, ok := errors.AsType[*refusedWrite](err); ok {
				e.table = name
			}
			if err != nil {
				return err
			}
			uses = append(uses, use{tables[i].Name(), name, used})
			for _, a := range actions {
				err := addCollection(
					&out.ItemCollectionMetrics, name, in.ReturnItemCollectionMetrics, tx, tables[i], a.key,
				)
				if err != nil {
					return err
				}
			}
		}

		out.ConsumedCapacity = consumedBy(in.ReturnConsumedCapacity, uses)
		return nil
	}

	// If throughput or a transaction refuses a write, the whole update fails. Move that write to the unprocessed ones
	// and run the update again without it. Each round removes a write, so the loop ends.
	for {
		err := s.db.Update(ctx, apply)
		if err == nil {
			b.spend()
			consumeAll(ctx, true, uses)
		}
		refused, ok := errors.AsType[*refusedWrite](err)
		if !ok {
			return out, err
		}
		requests, left = leaveOne(requests, left, refused)
		// API_BatchWriteItem: return an error only if all writes are throttled.
		if len(requests) == 0 && throttleCode(refused.err) != "" {
			return nil, refused.err
		}
	}
}

// A refusedWrite is the error of an update in which one write of a batch exceeds the throughput or conflicts with a
// transaction. batchWriteItem then runs the update again without that write.
type refusedWrite struct {
	table string
	at    int
	err   error
}

func (e *refusedWrite) Error() string { return e.err.Error() }
func (e *refusedWrite) Unwrap() error { return e.err }

// leaveOne moves the refused write from requests to left.
func leaveOne(
	requests, left map[string][]wire.WriteRequest, refused *refusedWrite,
) (now, later map[string][]wire.WriteRequest) {
	now, later = maps.Clone(requests), maps.Clone(left)
	if later == nil {
		later = map[string][]wire.WriteRequest{}
	}
	list := requests[refused.table]
	later[refused.table] = append(slices.Clone(left[refused.table]), list[refused.at])
	if now[refused.table] = slices.Concat(list[:refused.at], list[refused.at+1:]); len(list) == 1 {
		delete(now, refused.table)
	}
	return now, later
}

// Load puts any number of items into a table, or none if one of them is invalid. Code of this module that fills a
// database uses it. It calls no observers and counts no capacity.
func (s *Service) Load(ctx context.Context, name string, items []attr.Item) error {
	return s.db.Update(ctx, func(tx *table.Tx) error {
		t, err := s.lookup(tx.Table, &name)
		if err != nil {
			return err
		}
		for _, it := range items {
			if _, err := tx.Put(t, it, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// CheckLoad returns the error of the first item that [Service.Load] would refuse, or nil. It changes nothing.
func (s *Service) CheckLoad(ctx context.Context, name string, items []attr.Item) error {
	return s.db.View(ctx, func(v *table.View) error {
		t, err := s.lookup(v.Table, &name)
		if err != nil {
			return err
		}
		for _, it := range items {
			if err := t.CheckPut(it); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkWrites returns an error if a write is not exactly one put or one delete, if there are more than 25 writes, or
// if a value is invalid. Source: dynalite, test/batchWriteItem.js.
func checkWrites(in *wire.BatchWriteItemInput, names []string) error {
	total := 0
	for _, name := range names {
		for _, r := range in.RequestItems[name] {
			// A write with neither and a write with both get the same text: dynalite, test/batchWriteItem.js, "empty
			// item in RequestItems".
			if (r.PutRequest == nil) == (r.DeleteRequest == nil) {
				return wire.OpBatchWriteItem.Invalid("Supplied AttributeValue has more than one datatypes set, must " +
					"contain exactly one of the supported datatypes")
			}
			total++
		}
	}

	if total > MaxBatchWrites {
		return wire.OpBatchWriteItem.Invalid("Too many items requested for the BatchWriteItem call")
	}
	if err := wire.OpBatchWriteItem.FaultError(in.Faults, ""); err != nil {
		return err
	}
	for _, name := range names {
		for _, r := range in.RequestItems[name] {
			if r.PutRequest != nil && r.PutRequest.Item.Size() > table.MaxItemBytes {
				return wire.Validation(msgItemSize)
			}
		}
	}
	return nil
}

// batchActions returns the actions of a batch on one table.
func batchActions(writes []wire.WriteRequest) []action {
	actions := make([]action, len(writes))
	for i, w := range writes {
		if w.PutRequest != nil {
			actions[i].key = w.PutRequest.Item
		} else {
			actions[i] = action{kind: deleteAction, key: w.DeleteRequest.Key}
		}
	}
	return actions
}

// batchTable applies the writes to one table. It adds their items to seen. If an item is in seen already, it returns
// an error.
func batchTable(
	tx *table.Tx, t *table.Table, actions []action, seen itemSet, b *budget, o *ongoing,
) (used table.Capacity, err error) {
	ids := make([]string, len(actions))
	for i, a := range actions {
		if !a.puts() {
			continue
		}
		if ids[i], err = a.itemID(t); err != nil {
			return used, batchKeyError(t, a.key, err)
		}
	}

	for i, a := range actions {
		if !a.puts() {
			if ids[i], err = a.itemID(t); err != nil {
				return used, err
			}
		}
		if seen[ids[i]] {
			return used, wire.Validation(msgDuplicateKeys)
		}
		seen[ids[i]] = true
	}

	tables := slices.Repeat([]*table.Table{t}, len(actions))
	if err := tx.Prefetch(keysToWrite(tables, actions)); err != nil {
		return used, err
	}
	for i, a := range actions {
		if err := o.check(t, a.key); err != nil {
			return used, &refusedWrite{at: i, err: err}
		}
		change, err := a.run(tx, t)
		if err != nil {
			return used, err
		}
		if err := b.change(t, &change, 1); err != nil {
			return used, &refusedWrite{at: i, err: err}
		}
		used.Add(change.Capacity)
	}

	return used, nil
}

// batchKeyError returns the error for an item to put whose key is invalid. If a key attribute is missing or has the
// wrong type, the service has the message of DeleteItem about keys here, not the message of PutItem about items.
// Source: dynalite, test/batchWriteItem.js.
func batchKeyError(t *table.Table, item attr.Item, err error) error {
	for _, a := range t.Key().Attributes() {
		if item.Get(a.Name).Kind() != a.Kind {
			return wire.Validation("The provided key element does not match the schema")
		}
	}
	return err
}
