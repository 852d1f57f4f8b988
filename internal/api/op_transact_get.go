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
	reads := make([]readParams, len(in.TransactItems))
	for i := range in.TransactItems {
		g := in.TransactItems[i].Get
		if err := cmp.Or(
			g.CheckParams(), wire.OpTransactGetItems.FaultError(in.Faults, "TransactItems."+strconv.Itoa(i)),
		); err != nil {
			return nil, err
		}
		reads[i].expressions = expressions{op: wire.OpTransactGetItems, names: g.ExpressionAttributeNames}
		if err := reads[i].parseProjection(g.ProjectionExpression, nil); err != nil {
			return nil, err
		}
	}

	var out *wire.TransactGetItemsOutput
	var used *transactUse
	b := s.budget(ctx, false)
	err := s.db.View(ctx, func(view *table.View) (err error) {
		used = newTransactUse(in.ReturnConsumedCapacity, true)
		out, err = s.readAll(ctx, view, in, reads, used, b)
		return err
	})
	if err != nil {
		return nil, err
	}
	b.spend()
	used.record(ctx)
	got(ctx, out.Responses)
	return out, nil
}

// got records in the event how many items a transaction asked for, and how many of them it found.
func got(ctx context.Context, responses []wire.ItemResponse) {
	found := 0
	for _, r := range responses {
		if r.Item != nil {
			found++
		}
	}
	event.Of(ctx).Got(len(responses), found)
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

// readAll reads the items of a TransactGetItems, and adds the capacity that the reads consume to used. If a key does
// not match the schema of its table, the transaction is cancelled.
func (s *Service) readAll(
	ctx context.Context, view *table.View, in *wire.TransactGetItemsInput, reads []readParams, used *transactUse,
	b *budget,
) (*wire.TransactGetItemsOutput, error) {
	tables := make([]*table.Table, len(reads))
	for i := range reads {
		t, err := s.lookup(view.Table, in.TransactItems[i].Get.TableName)
		if err != nil {
			return nil, err
		}
		tables[i] = t
	}

	// Compare items by the id of their table and their key, as a request may name an item twice: by the name and by
	// the ARN of its table.
	reasons := make([]wire.CancellationReason, len(reads))
	cancelled, repeated := false, false
	seen := itemSet{}
	for i, t := range tables {
		reasons[i].Code = new("None")
		if err := checkEmptyKey(t, in.TransactItems[i].Get.Key); err != nil {
			return nil, err
		}
		ok, err := seen.add(t, in.TransactItems[i].Get.Key)
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

	for i, t := range tables {
		if err := reads[i].checkProjection(t); err != nil {
			return nil, err
		}
	}

	// Continue after a throttled read, as the error has a reason for each read.
	out := &wire.TransactGetItemsOutput{Responses: make([]wire.ItemResponse, len(reads))}
	total := 0
	var a answer
	for i, t := range tables {
		if i%prefetchKeys == 0 {
			err := view.Prefetch(func(yield func(*table.Table, attr.Item) bool) {
				for k := i; k < min(i+prefetchKeys, len(tables)) && yield(tables[k], in.TransactItems[k].Get.Key); k++ {
				}
			})
			if err != nil {
				return nil, err
			}
		}

		item, err := view.Get(t, in.TransactItems[i].Get.Key)
		if err != nil {
			return nil, err
		}
		if total += item.Size(); total > MaxTransactBytes {
			return nil, wire.OpTransactGetItems.Invalid(msgTransactBytes)
		}
		if item != nil {
			projected := reads[i].project(item)
			if !a.fits(projected) {
				return nil, wire.OpTransactGetItems.Invalid(msgTransactJSON)
			}
			if projected.Len() > 0 { // unlike GetItem, omit an empty item: moto pull 3420, dynoxide issues 39 and 53
				out.Responses[i].Item = bytes.Clone(projected)
			}
		}

		c := table.Capacity{Table: table.ReadUnits(t.BilledSize(item), true)}
		if err := s.admitRead(t, in.TransactItems[i].Get.Key, &c, b); err != nil {
			reasons[i], cancelled = cancellation(err, nil)
		}
		used.add(value(in.TransactItems[i].Get.TableName), t, c)
	}
	if cancelled {
		return nil, wire.TransactionCanceled(reasons)
	}

	out.ConsumedCapacity = used.consumed()
	return out, a.reserve(ctx)
}
