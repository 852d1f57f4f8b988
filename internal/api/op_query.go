package api

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/legacy"
	"github.com/sortkey/sortkey/internal/table"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// Query reads one page of a query and calls visit with each item, unless in.Select is COUNT. An item is valid until
// visit returns. If visit returns an error, the query ends and returns that error. The output has no Items.
func (s *Service) Query(ctx context.Context, in *wire.QueryInput, visit Visit) (*wire.QueryOutput, error) {
	return s.queryClauses(ctx, new(pageRead), in, nil, visit) // the output is a part of it
}

// QueryClauses is like [Service.Query], but takes the key condition as clauses. The input must not have a key
// condition. QueryClauses copies the values of the clauses. It returns the number of items found and the
// LastEvaluatedKey.
func (s *Service) QueryClauses(
	ctx context.Context, in *wire.QueryInput, clauses []keycond.Clause, visit Visit,
) (count int64, last attr.Item, err error) {
	if s.observed(ctx) {
		in, clauses = spelled(in, clauses), nil
	}
	q := pageReads.Get().(*pageRead)
	defer func() {
		*q = pageRead{}
		pageReads.Put(q)
	}()
	out, err := s.queryClauses(ctx, q, in, clauses, visit)
	if err != nil {
		return 0, nil, err
	}
	return *out.Count, out.LastEvaluatedKey, nil
}

var pageReads = sync.Pool{New: func() any { return new(pageRead) }}

func (s *Service) queryClauses(
	ctx context.Context, q *pageRead, in *wire.QueryInput, clauses []keycond.Clause, visit Visit,
) (*wire.QueryOutput, error) {
	query := func(s *Service, ctx context.Context, in *wire.QueryInput) (*wire.QueryOutput, error) {
		q.begin(s, wire.OpQuery, in, visit)
		return q.query(ctx, in, clauses)
	}
	return call(ctx, s, wire.OpQuery, in, query)
}

// spelled returns a copy of the input with a KeyConditionExpression for the clauses. Observers see requests in that
// form.
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

// query runs a Query.
func (q *pageRead) query(
	ctx context.Context, in *wire.QueryInput, clauses []keycond.Clause,
) (*wire.QueryOutput, error) {
	if err := checkForm(wire.OpQuery, in, nil, slices.Contains(in.AttributesToGet, "")); err != nil {
		return nil, err
	}

	// Parse expressions before the table is looked up, as the service reports an invalid expression before a missing
	// table.
	if err := q.parseLegacy(legacy.QueryFilter, in.QueryFilter, in.ConditionalOperator, in.Faults); err != nil {
		return nil, err
	}
	if err := q.open(); err != nil {
		return nil, err
	}
	key := keyCondition{clauses: clauses}
	if clauses == nil {
		var err error
		if key, err = q.keyCondition(in); err != nil {
			return nil, err
		}
	}
	if err := q.parse(in.FilterExpression); err != nil {
		return nil, err
	}

	return &q.out, q.service.db.View(ctx, func(view *table.View) error {
		// Do the checks that depend on the table. The key condition selects a slice of one partition, and the start
		// key must lie in that slice.
		read, schema, err := q.resolve(q.service, view)
		if err != nil {
			return cmp.Or(key.check(), err) // the service reports an error of the key condition first
		}
		if len(in.KeyConditions) > max(2, len(schema.Partition())+len(schema.Sort())) {
			return wire.OpQuery.Invalid("Conditions can be of length 1 or 2 only")
		}
		slice, err := key.slice(schema)
		if err != nil {
			return cmp.Or(key.check(), read.CheckStartForm(), err)
		}
		query := table.Query{Read: read, Slice: slice, Reverse: in.ScanIndexForward != nil && !*in.ScanIndexForward}
		err = cmp.Or(q.checkPaths(read.Table, schema), q.checkProjected(&query.Read, true))
		if err != nil {
			return cmp.Or(query.CheckStart(), err) // the service reports an error of the start key first
		}
		return q.page(ctx, &query.Read, slice.Partition, func() (table.Page, error) {
			return view.Query(&query, q.take)
		})
	})
}

// A keyCondition is the key condition of a query in one of three forms: clauses of the Go API, a
// KeyConditionExpression, or KeyConditions.
type keyCondition struct {
	clauses []keycond.Clause
	tree    *expr.Condition
	legacy  bool // tree is that of KeyConditions
}

// check returns an error if the condition cannot be a key condition, whatever the key schema is.
func (k *keyCondition) check() error {
	if k.tree == nil || k.legacy {
		return nil
	}
	_, err := keycond.Clauses(k.tree)
	return err
}

// slice returns the slice of the table or index that the condition selects. s is the key schema of the table or
// index.
func (k *keyCondition) slice(s *keycond.Schema) (*keycond.Slice, error) {
	switch {
	case k.tree == nil:
		return keycond.Of(s, k.clauses...)
	case k.legacy:
		return legacy.Compile(s, k.tree)
	}
	return keycond.Compile(s, k.tree)
}

// keyCondition parses KeyConditionExpression or KeyConditions.
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
