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
	p := puts.Get().(*put)
	defer p.release()
	p.op, p.names, p.values = wire.OpPutItem, in.ExpressionAttributeNames, in.ExpressionAttributeValues
	p.mode, p.metrics = in.ReturnConsumedCapacity, in.ReturnItemCollectionMetrics
	p.returns, p.onFailure = in.ReturnValues, in.ReturnValuesOnConditionCheckFailure

	if err := p.parse(in.ConditionExpression, in.Expected, in.ConditionalOperator); err != nil {
		return writeOutput{}, err
	}
	return p.apply(ctx, s, in.TableName, in.Item, p.replace)
}

// A put is the state of one PutItem. It is pooled, so nothing may refer to it after release.
type put struct {
	writeParams
	replace func(*table.Tx, *table.Table) (table.Change, error) // the method item, bound once
}

var puts = sync.Pool{New: func() any {
	p := new(put)
	p.run, p.replace = p.attempt, p.item
	return p
}}

func (p *put) release() {
	*p = put{writeParams: writeParams{run: p.run}, replace: p.replace}
	puts.Put(p)
}

// item puts the item.
func (p *put) item(tx *table.Tx, t *table.Table) (table.Change, error) {
	return tx.Put(t, p.key, p.cond)
}
