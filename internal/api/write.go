package api

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/table"
)

// Values of ReturnValues and ReturnValuesOnConditionCheckFailure. The last three are for UpdateItem only.
const (
	returnNone       = "NONE"
	returnAllOld     = "ALL_OLD"
	returnAllNew     = "ALL_NEW"
	returnUpdatedOld = "UPDATED_OLD"
	returnUpdatedNew = "UPDATED_NEW"
)

const (
	msgItemSize = "Item size has exceeded the maximum allowed size"
	// codeDuplicate is the code of the exception for an INSERT of an item that exists.
	codeDuplicate = "DuplicateItemException"
)

// writeParams are the parameters that the writes of single items share.
type writeParams struct {
	expressions
	mode, metrics, returns, onFailure *string
	cond                              *expr.Condition
	// unused allows names and values that no expression uses. Otherwise they are an error.
	unused bool
}

// parse parses the condition and does the checks that do not depend on the table.
func (w *writeParams) parse(
	src *string, expected map[string]wire.ExpectedAttributeValue, operator *string,
) (err error) {
	if r := value(w.returns); r != "" && r != returnNone && r != returnAllOld {
		return w.op.Invalid("ReturnValues can only be ALL_OLD or NONE")
	}
	if err := w.open(); err != nil {
		return err
	}
	if w.cond, err = w.writeCondition(src, expected, operator); err != nil || w.unused {
		return err
	}
	return w.close()
}

// A writeOutput holds the members that the outputs of writes share.
type writeOutput struct {
	attributes attr.Item
	consumed   *wire.ConsumedCapacity
	metrics    *wire.ItemCollectionMetrics
	use        use
	refused    bool // the condition does not hold
}

// apply runs a write in an update and returns its output. key is the item to put or its key; it is nil if the write
// itself finds conflicts with transactions. A write consumes capacity even if its condition fails.
func (w *writeParams) apply(
	ctx context.Context, s *Service, name *string, key attr.Item,
	write func(*table.Tx, *table.Table) (table.Change, error),
) (out writeOutput, err error) {
	b := s.budget(ctx, true)
	err = s.db.Update(ctx, func(tx *table.Tx) error {
		out = writeOutput{} // of an earlier attempt
		b.reset()
		t, err := s.lookup(tx.Table, name)
		if err != nil {
			return err
		}
		if key != nil {
			if err := s.ongoing.check(t, key); err != nil {
				return err
			}
		}
		change, err := write(tx, t)
		out.use = use{table: t.Name(), Capacity: change.Capacity}
		if err != nil {
			err = w.failed(err)
			e, ok := errors.AsType[*wire.Error](err)
			out.refused = ok && (e.Code == wire.CodeConditionFailed || e.Code == codeDuplicate)
			if out.refused {
				if throttled := b.change(t, &change, 1); throttled != nil {
					out.refused, err = false, throttled
				}
			}
			return err
		}

		if err := b.change(t, &change, 1); err != nil {
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
		b.spend()
		consume(ctx, out.use.table, true, &out.use.Capacity)
	}
	return out, err
}

// failed adds the item to the error of a failed condition, if the request asks for the item.
func (w *writeParams) failed(err error) error {
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

// collectionMetrics returns the size of the item collection of a key, or nil if the request does not ask for the size
// or the table has no local indexes.
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

// addCollection adds the size of the item collection of a key to those of the table that the request calls name, unless
// they have it already or the request does not ask for it.
func addCollection(
	all *map[string][]wire.ItemCollectionMetrics, name string, mode *string, tx *table.Tx, t *table.Table, key attr.Item,
) error {
	m, err := collectionMetrics(mode, tx, t, key)
	if err != nil || m == nil {
		return err
	}
	if *all == nil {
		*all = map[string][]wire.ItemCollectionMetrics{}
	}
	if !slices.ContainsFunc((*all)[name], func(o wire.ItemCollectionMetrics) bool {
		return o.ItemCollectionKey.Equal(m.ItemCollectionKey)
	}) {
		(*all)[name] = append((*all)[name], *m)
	}
	return nil
}

// returnedOf returns the attributes that ReturnValues asks for, or nil. The result needs no copy, as the update has
// allocated the new item and nothing changes it.
func returnedOf(mode string, update *expr.Update, change *table.Change) attr.Item {
	switch mode {
	case returnAllOld:
		return bytes.Clone(change.Old)
	case returnAllNew:
		return change.New
	case returnUpdatedOld:
		return update.Project(change.Old)
	case returnUpdatedNew:
		return update.Project(change.New)
	}
	return nil
}
