package api

import (
	"context"

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
		action: action{
			kind: deleteAction, table: in.TableName, key: in.Key, onFailure: in.ReturnValuesOnConditionCheckFailure,
		},
		mode: in.ReturnConsumedCapacity, metrics: in.ReturnItemCollectionMetrics, returns: in.ReturnValues,
	}
	if err := w.parse(in.ConditionExpression, in.Expected, in.ConditionalOperator); err != nil {
		return nil, err
	}
	out, err := w.apply(ctx, s)
	return new(wire.DeleteItemOutput(out.UpdateItemOutput)), err
}
