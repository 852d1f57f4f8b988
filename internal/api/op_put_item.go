package api

import (
	"context"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// PutReturning is like PutItem but returns only the Attributes of the output.
func (s *Service) PutReturning(ctx context.Context, in *wire.PutItemInput) (attr.Item, error) {
	out, err := call(ctx, s, wire.OpPutItem, in, (*Service).write)
	return out.attributes, err
}

// putItem writes one item.
func (s *Service) putItem(ctx context.Context, in *wire.PutItemInput) (*wire.PutItemOutput, error) {
	out, err := s.write(ctx, in)
	return &wire.PutItemOutput{
		Attributes: out.attributes, ConsumedCapacity: out.consumed, ItemCollectionMetrics: out.metrics,
	}, err
}

// write writes one item.
func (s *Service) write(ctx context.Context, in *wire.PutItemInput) (writeOutput, error) {
	if err := checkForm(wire.OpPutItem, in, in.Faults, hasEmpty(in.Expected)); err != nil {
		return writeOutput{}, err
	}
	if in.Item.Size() > table.MaxItemBytes {
		return writeOutput{}, wire.Validation(msgItemSize)
	}
	w := writeParams{
		expressions: expressions{
			op: wire.OpPutItem, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues,
		},
		mode: in.ReturnConsumedCapacity, metrics: in.ReturnItemCollectionMetrics,
		returns: in.ReturnValues, onFailure: in.ReturnValuesOnConditionCheckFailure,
	}
	if err := w.parse(in.ConditionExpression, in.Expected, in.ConditionalOperator); err != nil {
		return writeOutput{}, err
	}
	return w.apply(ctx, s, in.TableName, in.Item, func(tx *table.Tx, t *table.Table) (table.Change, error) {
		return tx.Put(t, in.Item, w.cond)
	})
}
