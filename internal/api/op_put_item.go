package api

import (
	"context"
	"sync"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// PutReturning is like PutItem but returns only the Attributes of the output.
func (s *Service) PutReturning(ctx context.Context, in *wire.PutItemInput) (attr.Item, error) {
	out, err := call(ctx, s, wire.OpPutItem, in, (*Service).write)
	return out.Attributes, err
}

// putItem writes one item.
func (s *Service) putItem(ctx context.Context, in *wire.PutItemInput) (*wire.PutItemOutput, error) {
	out, err := s.write(ctx, in)
	return new(wire.PutItemOutput(out.UpdateItemOutput)), err
}

// puts has the states of PutItems, which are large. Nothing refers to a state after its operation.
var puts = sync.Pool{New: func() any { return new(writeParams) }}

// write writes one item.
func (s *Service) write(ctx context.Context, in *wire.PutItemInput) (writeOutput, error) {
	if err := checkForm(wire.OpPutItem, in, in.Faults, hasEmpty(in.Expected)); err != nil {
		return writeOutput{}, err
	}
	if in.Item.Size() > table.MaxItemBytes {
		return writeOutput{}, wire.Validation(msgItemSize)
	}
	w := puts.Get().(*writeParams)
	defer func() {
		*w = writeParams{}
		puts.Put(w)
	}()
	*w = writeParams{
		expressions: expressions{
			op: wire.OpPutItem, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues,
		},
		action: action{table: in.TableName, key: in.Item, onFailure: in.ReturnValuesOnConditionCheckFailure},
		mode:   in.ReturnConsumedCapacity, metrics: in.ReturnItemCollectionMetrics, returns: in.ReturnValues,
	}
	if err := w.parse(in.ConditionExpression, in.Expected, in.ConditionalOperator); err != nil {
		return writeOutput{}, err
	}
	return w.apply(ctx, s)
}
