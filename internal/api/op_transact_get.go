package api

import (
	"bytes"
	"cmp"
	"context"
	"strconv"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/api/event"
	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/internal/table"
)

// transactGetItems reads up to 100 items of any tables from one snapshot.
func (s *Service) transactGetItems(
	ctx context.Context, in *wire.TransactGetItemsInput,
) (*wire.TransactGetItemsOutput, error) {
	const op = wire.OpTransactGetItems
	reads := make([]readParams, len(in.TransactItems))
	for i := range in.TransactItems {
		g := in.TransactItems[i].Get
		err := cmp.Or(op.CheckParams(g), op.FaultError(in.Faults, "TransactItems."+strconv.Itoa(i)))
		if err != nil {
			return nil, err
		}
		reads[i].expressions = expressions{op: op, names: g.ExpressionAttributeNames}
		if err := reads[i].parseProjection(g.ProjectionExpression, nil); err != nil {
			return nil, err
		}
	}

	out := new(wire.TransactGetItemsOutput)
	var err error
	find := func(view *table.View) ([]transactRead, error) { return s.getReads(view, in, reads) }
	out.Responses, out.ConsumedCapacity, err = s.readTransaction(ctx, op, in.ReturnConsumedCapacity, find)
	return out, err
}

// A transactRead is one read of a transaction.
type transactRead struct {
	name  string // of the table, as the request has it
	table *table.Table
	key   attr.Item
	// project returns what the response has of an item, or nil for nothing.
	project func(attr.Item) attr.Item
}

// readTransaction reads the items of a transaction from one snapshot. find returns the reads; it checks the request
// against the tables in the snapshot. readTransaction returns the responses, and the consumed capacity in the form
// that mode asks for.
func (s *Service) readTransaction(
	ctx context.Context, op wire.Op, mode *string, find func(*table.View) ([]transactRead, error),
) (responses []wire.ItemResponse, capacity []wire.ConsumedCapacity, err error) {
	var used *transactUse
	b := s.budget(ctx, false)
	err = s.db.View(ctx, func(view *table.View) error {
		used = &transactUse{mode: mode, reads: true}
		reads, err := find(view)
		if err == nil {
			responses, err = s.readItems(ctx, view, op, reads, used, b)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}

	b.spend()
	used.record(ctx)
	found := 0
	for _, r := range responses {
		if r.Item != nil {
			found++
		}
	}
	event.Of(ctx).Got(len(responses), found)
	return responses, used.consumed(), nil
}

// admitRead returns an error if a transaction must not read an item. That is so if another transaction is writing the
// item, or if the read exceeds the throughput. [cancellation] has a reason for both errors.
func (s *Service) admitRead(t *table.Table, key attr.Item, c *table.Capacity, b *budget) error {
	if err := s.ongoing.check(t, key); err != nil {
		return err
	}
	return b.item(t, key, c.Table*transactFactor)
}

const msgTransactBytes = "Transaction payload size cannot exceed 4194304 bytes"

// msgTransactJSON is the message if the items of a transaction are within the service's size limit, but their JSON
// exceeds [maxAnswer]. The service's own message is not known.
const msgTransactJSON = "Transaction payload size cannot exceed 33554432 bytes of JSON; read fewer items at a time"

// getReads returns the reads of a TransactGetItems. reads has their projections. If a key does not match the schema of
// its table, the transaction is cancelled.
func (s *Service) getReads(
	view *table.View, in *wire.TransactGetItemsInput, reads []readParams,
) ([]transactRead, error) {
	list := make([]transactRead, len(reads))
	for i := range reads {
		g := in.TransactItems[i].Get
		t, err := s.lookup(view.Table, g.TableName)
		if err != nil {
			return nil, err
		}
		list[i] = transactRead{value(g.TableName), t, g.Key, func(it attr.Item) attr.Item {
			if it = reads[i].project(it); it.Len() == 0 {
				return nil // unlike GetItem, omit an empty item: moto pull 3420, dynoxide issues 39 and 53
			}
			return it
		}}
	}

	// Compare items by the id of their table and their key, as a request may name an item twice: by the name and by
	// the ARN of its table.
	reasons := noReasons(len(list))
	cancelled, repeated := false, false
	seen := itemSet{}
	for i, r := range list {
		if err := checkEmptyKey(r.table, r.key); err != nil {
			return nil, err
		}
		ok, err := seen.add(r.table, r.key)
		if err != nil {
			reason, ok := cancellation(err, nil)
			if !ok {
				return nil, err
			}
			if !cancelled { // as for writes, report only the first
				reasons[i], cancelled = reason, true
			}
			continue
		}
		repeated = repeated || !ok
	}
	switch {
	case cancelled: // the service reports this rather than a repeated item
		return nil, wire.TransactionCanceled(reasons)
	case repeated:
		return nil, wire.OpTransactGetItems.Invalid(msgOneItem)
	}

	for i, r := range list {
		if err := reads[i].checkProjection(r.table); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// readItems reads the items of a transaction, and adds the capacity that the reads consume to used.
func (s *Service) readItems(
	ctx context.Context, view *table.View, op wire.Op, reads []transactRead, used *transactUse, b *budget,
) ([]wire.ItemResponse, error) {
	responses := make([]wire.ItemResponse, len(reads))
	reasons, cancelled := noReasons(len(reads)), false
	total := 0
	var a answer
	for i, r := range reads {
		if i%prefetchKeys == 0 {
			err := view.Prefetch(func(yield func(*table.Table, attr.Item) bool) {
				for k := i; k < min(i+prefetchKeys, len(reads)) && yield(reads[k].table, reads[k].key); k++ {
				}
			})
			if err != nil {
				return nil, err
			}
		}

		item, err := view.Get(r.table, r.key)
		if err != nil {
			return nil, err
		}
		if total += item.Size(); total > MaxTransactBytes {
			return nil, op.Invalid(msgTransactBytes)
		}
		if item != nil {
			if responses[i].Item = bytes.Clone(r.project(item)); !a.fits(responses[i].Item) {
				return nil, op.Invalid(msgTransactJSON)
			}
		}

		// Continue after a throttled read, as the error has a reason for each read.
		c := table.Capacity{Table: table.ReadUnits(r.table.BilledSize(item), true)}
		if err := s.admitRead(r.table, r.key, &c, b); err != nil {
			reasons[i], cancelled = cancellation(err, nil)
		}
		used.add(r.name, r.table, c)
	}
	if cancelled {
		return nil, wire.TransactionCanceled(reasons)
	}
	return responses, a.reserve(ctx)
}

// noReasons returns n cancellation reasons with the code None.
func noReasons(n int) []wire.CancellationReason {
	reasons := make([]wire.CancellationReason, n)
	for i := range reasons {
		reasons[i].Code = new("None")
	}
	return reasons
}
