package api

import (
	"context"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// deleteItem deletes one item.
func (s *Service) deleteItem(ctx context.Context, in *wire.DeleteItemInput) (*wire.DeleteItemOutput, error) {
	if err := checkForm(wire.OpDeleteItem, in, in.Faults, hasEmpty(in.Expected)); err != nil {
		return nil, err
	}
	w := writeParams{
		expressions: expressions{
			op: wire.OpDeleteItem, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues,
		},
		mode: in.ReturnConsumedCapacity, metrics: in.ReturnItemCollectionMetrics,
		returns: in.ReturnValues, onFailure: in.ReturnValuesOnConditionCheckFailure,
	}
	if err := w.parse(in.ConditionExpression, in.Expected, in.ConditionalOperator); err != nil {
		return nil, err
	}
	out, err := w.apply(ctx, s, in.TableName, in.Key, func(tx *table.Tx, t *table.Table) (table.Change, error) {
		return tx.Delete(t, in.Key, w.cond)
	})
	return &wire.DeleteItemOutput{
		Attributes: out.attributes, ConsumedCapacity: out.consumed, ItemCollectionMetrics: out.metrics,
	}, err
}
