package api

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/expr/ast"
	"github.com/sortkey/sortkey/internal/legacy"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// Query runs one page of a query and calls visit with each item found, unless
// the input asks for their number alone. An item is valid until visit returns;
// an error of visit ends the query. The output has no Items.
func (s *Service) Query(ctx context.Context, in *wire.QueryInput, visit Visit) (*wire.QueryOutput, error) {
	return s.QueryClauses(ctx, in, nil, visit)
}

// QueryClauses is Query for an input without a key condition: it demands all of the clauses
// instead, whose values it copies.
func (s *Service) QueryClauses(
	ctx context.Context, in *wire.QueryInput, clauses []keycond.Clause, visit Visit,
) (*wire.QueryOutput, error) {
	if clauses != nil && s.observed(ctx) {
		in, clauses = spelled(in, clauses), nil
	}
	ctx, c, err := s.begin(ctx, wire.OpQuery, in)
	var out *wire.QueryOutput
	if err == nil {
		out, err = s.query(ctx, in, clauses, visit)
	}
	if err = c.end(ctx, err); err != nil {
		return nil, err
	}
	return out, nil
}

// spelled returns an input with the clauses of its key condition as an expression, as observers
// see requests.
func spelled(in *wire.QueryInput, clauses []keycond.Clause) *wire.QueryInput {
	out := *in
	out.ExpressionAttributeNames = maps.Clone(in.ExpressionAttributeNames)
	if out.ExpressionAttributeNames == nil {
		out.ExpressionAttributeNames = map[string]string{}
	}
	var values attr.Builder
	for name, v := range in.ExpressionAttributeValues.All() {
		values.Add(string(name), v)
	}

	parts := make([]string, len(clauses))
	for i, c := range clauses {
		name := fmt.Sprintf("#key%d", i+1)
		out.ExpressionAttributeNames[name] = c.Attribute
		places := make([]string, len(c.Values))
		for k, v := range c.Values {
			places[k] = fmt.Sprintf(":key%d_%d", i+1, k+1)
			values.Add(places[k], v)
		}
		switch c.Op {
		case ast.OpBeginsWith:
			parts[i] = "begins_with(" + name + ", " + places[0] + ")"
		default:
			parts[i] = name + " " + string(c.Op) + " " + strings.Join(places, " AND ")
		}
	}
	out.KeyConditionExpression = new(strings.Join(parts, " AND "))
	out.ExpressionAttributeValues = values.Item()
	return &out
}

func (s *Service) query(
	ctx context.Context, in *wire.QueryInput, clauses []keycond.Clause, visit Visit,
) (*wire.QueryOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	if err := checkForm(wire.OpQuery, in, nil, slices.Contains(in.AttributesToGet, "")); err != nil {
		return nil, err
	}
	x := new(struct {
		pageRead
		key   keyCondition
		query table.Query
	})
	r := &x.readParams
	*r = readParams{
		expressions: expressions{
			op: wire.OpQuery, names: in.ExpressionAttributeNames, values: in.ExpressionAttributeValues,
		},
		table: in.TableName, index: in.IndexName, sel: in.Select, attributes: in.AttributesToGet,
		projected:  in.ProjectionExpression,
		consistent: value(in.ConsistentRead), mode: in.ReturnConsumedCapacity, limit: value(in.Limit),
		start: in.ExclusiveStartKey,
	}

	// Expressions are parsed before the table is looked up: their faults come before a missing
	// table.
	if err := r.parseLegacy(legacy.QueryFilter, in.QueryFilter, in.ConditionalOperator, in.Faults); err != nil {
		return nil, err
	}
	if err := r.open(); err != nil {
		return nil, err
	}
	x.key.clauses = clauses
	if clauses == nil {
		var err error
		if x.key, err = r.keyCondition(in); err != nil {
			return nil, err
		}
	}

	if err := r.parse(in.FilterExpression); err != nil {
		return nil, err
	}
	err := s.db.View(ctx, func(view *table.View) error {
		// What depends on the table: the key condition becomes one slice of one partition, then the
		// start key must lie in it.
		read, schema, err := r.resolve(s, view)
		if err != nil {
			return cmp.Or(x.key.check(), err) // an error of the condition comes first
		}
		if len(in.KeyConditions) > max(2, len(schema.Partition())+len(schema.Sort())) {
			return wire.OpQuery.Invalid("Conditions can be of length 1 or 2 only")
		}
		slice, err := x.key.slice(schema)
		if err != nil {
			return cmp.Or(x.key.check(), read.CheckStartForm(), err)
		}

		x.query = table.Query{Read: read, Slice: slice, Reverse: in.ScanIndexForward != nil && !*in.ScanIndexForward}
		err = cmp.Or(r.checkPaths(read.Table, schema), r.checkProjected(&x.query.Read, true))
		if err != nil {
			return cmp.Or(x.query.CheckStart(), err) // an error of the start key comes first
		}

		// A page is admitted before it is read, and what it took is known afterwards.
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

// A keyCondition is the key condition of a query in one of its three forms: clauses of the Go face,
// KeyConditionExpression or KeyConditions.
type keyCondition struct {
	clauses []keycond.Clause
	tree    *expr.Condition
	legacy  bool // tree is that of KeyConditions
}

// check refuses what cannot be a key condition under any schema.
func (k *keyCondition) check() error {
	if k.tree == nil || k.legacy {
		return nil
	}
	_, err := keycond.Clauses(k.tree)
	return err
}

// slice returns the slice of the table or index that the condition selects.
func (k *keyCondition) slice(s *keycond.Schema) (*keycond.Slice, error) {
	switch {
	case k.tree == nil:
		return keycond.Of(s, k.clauses...)
	case k.legacy:
		return legacy.Compile(s, k.tree)
	}
	return keycond.Compile(s, k.tree)
}

// keyCondition parses the key condition in either form.
func (r *readParams) keyCondition(in *wire.QueryInput) (key keyCondition, err error) {
	switch {
	case in.KeyConditionExpression != nil:
		key.tree, err = r.condition(expr.KeyConditionExpression, in.KeyConditionExpression)
		return key, err
	case in.KeyConditions != nil:
		if len(in.KeyConditions) == 0 || len(in.KeyConditions) > 2*keycond.MaxAttributes {
			return key, wire.OpQuery.Invalid("Conditions can be of length 1 or 2 only")
		}
		if err := wire.OpQuery.FaultError(in.Faults, "KeyConditions"); err != nil {
			return key, err
		}
		key.legacy = true
		key.tree, err = r.legacyCondition(legacy.KeyConditions, in.KeyConditions, nil)
		return key, err
	}
	return key, wire.OpQuery.Invalid(
		"Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.",
	)
}
