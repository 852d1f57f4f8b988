package api

import (
	"context"

	"github.com/sortkey/sortkey/internal/legacy"
	"github.com/sortkey/sortkey/internal/wire"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/table"
)

// UpdateKeeping is like UpdateItem. Unless old is nil, it also stores a copy of the old item in *old.
func (s *Service) UpdateKeeping(
	ctx context.Context, in *wire.UpdateItemInput, old *attr.Item,
) (*wire.UpdateItemOutput, error) {
	if old == nil {
		return s.UpdateItem(ctx, in)
	}
	update := func(s *Service, ctx context.Context, in *wire.UpdateItemInput) (*wire.UpdateItemOutput, error) {
		return s.updateKeeping(ctx, in, old)
	}
	return call(ctx, s, wire.OpUpdateItem, in, update)
}

// updateItem changes one item, or creates it.
func (s *Service) updateItem(ctx context.Context, in *wire.UpdateItemInput) (*wire.UpdateItemOutput, error) {
	return s.updateKeeping(ctx, in, nil)
}

func (s *Service) updateKeeping(
	ctx context.Context, in *wire.UpdateItemInput, old *attr.Item,
) (*wire.UpdateItemOutput, error) {
	if err := checkForm(
		wire.OpUpdateItem, in, in.Faults, hasEmpty(in.Expected) || hasEmpty(in.AttributeUpdates),
	); err != nil {
		return nil, err
	}
	w := writeParams{
		expressions: expressions{
			op: wire.OpUpdateItem, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues,
		},
		action: action{
			kind: updateAction, table: in.TableName, key: in.Key, onFailure: in.ReturnValuesOnConditionCheckFailure,
		},
		mode: in.ReturnConsumedCapacity, metrics: in.ReturnItemCollectionMetrics,
		legacy: in.UpdateExpression == nil, old: old,
	}

	var err error
	if in.UpdateExpression != nil || in.ConditionExpression != nil {
		w.update, err = w.parseUpdate(in.UpdateExpression, in.ConditionExpression)
	} else {
		w.update, err = w.parseLegacyUpdate(in)
	}
	if err != nil {
		return nil, err
	}
	w.returns = in.ReturnValues
	if !w.legacy && Charge(w.update) > table.MaxItemBytes {
		return nil, wire.Validation("Item size to update has exceeded the maximum allowed size")
	}
	out, err := w.apply(ctx, s)
	return new(out.UpdateItemOutput), err
}

// parseUpdate parses an update expression and a condition.
func (w *writeParams) parseUpdate(update, condition *string) (u *expr.Update, err error) {
	if err := w.open(); err != nil {
		return nil, err
	}
	if update != nil {
		if u, err = w.env.Update(*update); err != nil {
			return nil, w.wrap(err)
		}
	}
	if w.cond, err = w.condition(expr.ConditionExpression, condition); err != nil || w.unused {
		return u, err
	}
	return u, w.close()
}

// parseLegacyUpdate parses AttributeUpdates and Expected.
func (w *writeParams) parseLegacyUpdate(in *wire.UpdateItemInput) (*expr.Update, error) {
	u, err := legacy.Update(in.AttributeUpdates)
	if err != nil {
		return nil, wire.Validation(err.Error()) // without a prefix in any layer
	}
	return u, w.parse(nil, in.Expected, in.ConditionalOperator)
}
