package api

import (
	"cmp"
	"context"
	"slices"

	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/keycond"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
)

// Query runs one page of a query and calls visit with each item found, unless
// the input asks for their number alone. An item is valid until visit returns;
// an error of visit ends the query. The output has no Items.
func (s *Service) Query(ctx context.Context, in *wire.QueryInput, visit Visit) (*wire.QueryOutput, error) {
	ctx, c, err := s.begin(ctx, wire.OpQuery, in)
	var out *wire.QueryOutput
	if err == nil {
		out, err = s.query(ctx, in, visit)
	}
	if err = c.end(ctx, err); err != nil {
		return nil, err
	}
	return out, nil
}

func (s *Service) query(ctx context.Context, in *wire.QueryInput, visit Visit) (*wire.QueryOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	if err := checkForm(wire.OpQuery, in, nil, slices.Contains(in.AttributesToGet, "")); err != nil {
		return nil, err
	}
	x := new(struct {
		pageRead
		query table.Query
	})
	r := &x.readParams
	*r = readParams{
		expressions: expressions{op: wire.OpQuery, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues},
		table:       in.TableName, index: in.IndexName, sel: in.Select, attributes: in.AttributesToGet,
		projected:  in.ProjectionExpression,
		consistent: value(in.ConsistentRead), mode: in.ReturnConsumedCapacity, limit: value(in.Limit),
		start: in.ExclusiveStartKey,
	}
	if err := r.parseLegacy(expr.QueryFilter, in.QueryFilter, in.ConditionalOperator, in.Faults); err != nil {
		return nil, err
	}
	if err := r.open(); err != nil {
		return nil, err
	}
	key, err := r.keyCondition(in)
	if err != nil {
		return nil, err
	}
	if err := r.parse(in.FilterExpression); err != nil {
		return nil, err
	}
	err = s.db.View(ctx, func(view *table.View) error {
		read, schema, err := r.resolve(s, view)
		if err != nil {
			return cmp.Or(keycond.Check(key), err) // an error of the condition comes first
		}
		if len(in.KeyConditions) > max(2, len(schema.Hash)+len(schema.Range)) {
			return wire.OpQuery.Invalid("Conditions can be of length 1 or 2 only")
		}
		slice, err := keycond.Compile(schema, key)
		if err != nil {
			return cmp.Or(keycond.Check(key), read.CheckStartForm(), err)
		}
		x.query = table.Query{Read: read, Slice: slice, Reverse: in.ScanIndexForward != nil && !*in.ScanIndexForward}
		err = cmp.Or(r.checkPaths(read.Table, schema), r.checkProjected(&x.query.Read, true))
		if err != nil {
			return cmp.Or(x.query.CheckStart(), err) // an error of the start key comes first
		}
		b := s.budget(ctx, false)
		if err := b.page(&read, slice.Partition); err != nil {
			return err
		}
		page, err := view.Query(&x.query, r.visitor(visit))
		if err != nil {
			return err
		}
		b.spent(&read, slice.Partition, &page.Capacity)
		x.finish(ctx, read.Table, &page)
		return nil
	})
	return &x.out, err
}

// keyCondition parses the key condition in either form.
func (r *readParams) keyCondition(in *wire.QueryInput) (*expr.Condition, error) {
	switch {
	case in.KeyConditionExpression != nil:
		return r.condition(expr.KeyConditionExpression, in.KeyConditionExpression)
	case in.KeyConditions != nil:
		if len(in.KeyConditions) == 0 || len(in.KeyConditions) > 2*keycond.MaxAttributes {
			return nil, wire.OpQuery.Invalid("Conditions can be of length 1 or 2 only")
		}
		if err := wire.OpQuery.FaultError(in.Faults, "KeyConditions"); err != nil {
			return nil, err
		}
		return r.legacy(expr.KeyConditions, in.KeyConditions, nil)
	}
	return nil, wire.OpQuery.Invalid(
		"Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.",
	)
}
