package api

import (
	"context"

	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// PutItem writes one item.
func (s *Service) PutItem(ctx context.Context, in *wire.PutItemInput) (*wire.PutItemOutput, error) {
	return call(ctx, s, wire.OpPutItem, in, (*Service).putItem)
}

func (s *Service) putItem(ctx context.Context, in *wire.PutItemInput) (*wire.PutItemOutput, error) {
	if err := checkForm(wire.OpPutItem, in, in.Faults, hasEmpty(in.Expected)); err != nil {
		return nil, err
	}
	if in.Item.Size() > table.MaxItemBytes {
		return nil, wire.Validation(msgItemSize)
	}
	w := writeParams{
		expressions: expressions{
			op: wire.OpPutItem, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues,
		},
		mode: in.ReturnConsumedCapacity, metrics: in.ReturnItemCollectionMetrics,
		returns: in.ReturnValues, onFailure: in.ReturnValuesOnConditionCheckFailure,
	}

	if err := w.parse(in.ConditionExpression, in.Expected, in.ConditionalOperator); err != nil {
		return nil, err
	}
	out, err := w.apply(ctx, s, in.TableName, in.Item, func(tx *table.Tx, t *table.Table) (table.Change, error) {
		return tx.Put(t, in.Item, w.cond)
	})
	return &wire.PutItemOutput{
		Attributes: out.attributes, ConsumedCapacity: out.consumed, ItemCollectionMetrics: out.metrics,
	}, err
}
