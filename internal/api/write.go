package api

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/legacy"
	"github.com/sortkey/sortkey/internal/partiql"
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
	action
	mode, metrics, returns *string
	// unused allows names and values that no expression uses. Otherwise they are an error.
	unused    bool
	legacy    bool               // the update comes from AttributeUpdates
	statement *partiql.Statement // from which each attempt makes the action, or nil
	old       *attr.Item         // receives a copy of the old item, unless it is nil
	out       writeOutput
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
	if w.cond, err = w.writeCondition(src, expected, operator); err != nil {
		return err
	}
	return w.close()
}

// A writeOutput is the output of a write. The outputs of the three writes have the same members.
type writeOutput struct {
	wire.UpdateItemOutput
	use     use
	refused bool // the condition does not hold
}

// apply runs the write in an update and returns its output. A write consumes capacity even if its condition fails.
func (w *writeParams) apply(ctx context.Context, s *Service) (writeOutput, error) {
	b := s.budget(ctx, true)
	err := s.db.Update(ctx, func(tx *table.Tx) error { return w.attempt(tx, s, b) })
	if err == nil || w.out.refused {
		b.spend()
		consume(ctx, w.out.use.table, true, &w.out.use.Capacity)
	}
	return w.out, err
}

// attempt runs the write. The store may call attempt again, so it first resets the output and the budget.
func (w *writeParams) attempt(tx *table.Tx, s *Service, b *budget) error {
	w.out = writeOutput{}
	out := &w.out
	b.reset()
	t, err := s.lookup(tx.Table, w.table)
	if err == nil && w.statement != nil {
		onFailure := w.onFailure
		w.action, err = statementAction(t, w.statement)
		w.onFailure = onFailure
	}
	if err == nil {
		err = s.ongoing.check(t, w.key)
	}
	if err != nil {
		return err
	}

	change, err := w.run(tx, t)
	out.use = use{t.Name(), t.Name(), change.Capacity}
	if err != nil {
		if w.legacy {
			err = legacy.Refused(err)
		}
		err = w.failed(err)
		if out.refused = isCode(err, wire.CodeConditionFailed) || isCode(err, codeDuplicate); out.refused {
			if throttled := b.change(t, &change, 1); throttled != nil {
				out.refused, err = false, throttled
			}
		}
		return err
	}

	if err := b.change(t, &change, 1); err != nil {
		return err
	}
	out.Attributes = returnedOf(value(w.returns), w.update, &change)
	if w.old != nil {
		*w.old = bytes.Clone(change.Old)
	}
	out.ConsumedCapacity = consumed(w.mode, value(w.table), &change.Capacity)
	out.ItemCollectionMetrics, err = collectionMetrics(w.metrics, tx, t, w.key)
	return err
}

// failed adds the item to the error of a failed condition, if the request asks for the item.
func (w *writeParams) failed(err error) error {
	e, ok := errors.AsType[*table.Error](err)
	if !ok || e.Kind != table.ConditionFailed {
		return err
	}
	var item attr.Item
	if value(w.onFailure) == returnAllOld {
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
	all *map[string][]wire.ItemCollectionMetrics, name string, mode *string,
	tx *table.Tx, t *table.Table, key attr.Item,
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
