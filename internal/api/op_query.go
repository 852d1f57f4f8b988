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
	q := newQuery() // the output is a part of it
	if err := q.run(ctx, s, in, nil, visit); err != nil {
		return nil, err
	}
	return &q.out, nil
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
	q := queries.Get().(*query)
	defer q.release()
	if err := q.run(ctx, s, in, clauses, visit); err != nil {
		return 0, nil, err
	}
	return q.count, q.out.LastEvaluatedKey, nil
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

// A query is the state of one Query. QueryClauses pools it, so nothing may refer to it after release.
type query struct {
	pageRead
	service *Service
	ctx     context.Context //nolint:containedctx // of the call
	in      *wire.QueryInput
	key     keyCondition
	query   table.Query
	found   func(attr.Item) error   // the method take, bound once
	read    func(*table.View) error // the method view, bound once
}

var queries = sync.Pool{New: func() any { return newQuery() }}

func newQuery() *query {
	q := new(query)
	q.found, q.read = q.take, q.view
	return q
}

func (q *query) release() {
	*q = query{found: q.found, read: q.read}
	queries.Put(q)
}

// run runs the operation.
func (q *query) run(
	ctx context.Context, s *Service, in *wire.QueryInput, clauses []keycond.Clause, visit Visit,
) error {
	ctx, c, err := s.begin(ctx, wire.OpQuery, in)
	if err == nil {
		q.service, q.ctx, q.in, q.key.clauses, q.visit = s, ctx, in, clauses, visit
		err = q.check()
	}
	if err == nil {
		err = s.db.View(ctx, q.read)
	}
	return c.end(ctx, err)
}

// check makes the checks of the input that do not depend on the table.
func (q *query) check() error {
	in := q.in
	if err := wire.Validate(wire.OpQuery, in); err != nil {
		return err
	}
	if err := checkForm(wire.OpQuery, in, nil, slices.Contains(in.AttributesToGet, "")); err != nil {
		return err
	}
	q.op, q.names, q.values = wire.OpQuery, in.ExpressionAttributeNames, in.ExpressionAttributeValues
	q.table, q.index, q.sel, q.attributes = in.TableName, in.IndexName, in.Select, in.AttributesToGet
	q.projected, q.mode = in.ProjectionExpression, in.ReturnConsumedCapacity
	q.consistent, q.limit, q.start = value(in.ConsistentRead), value(in.Limit), in.ExclusiveStartKey

	// Parse expressions before the table is looked up, as the service reports an invalid expression before a missing
	// table.
	if err := q.parseLegacy(legacy.QueryFilter, in.QueryFilter, in.ConditionalOperator, in.Faults); err != nil {
		return err
	}
	if err := q.open(); err != nil {
		return err
	}
	if q.key.clauses == nil {
		var err error
		if q.key, err = q.keyCondition(in); err != nil {
			return err
		}
	}
	return q.parse(in.FilterExpression)
}

// view reads the page.
func (q *query) view(view *table.View) error {
	// Do the checks that depend on the table. The key condition selects a slice of one partition, and the start key
	// must lie in that slice.
	read, schema, err := q.resolve(q.service, view)
	if err != nil {
		return cmp.Or(q.key.check(), err) // the service reports an error of the key condition first
	}
	if len(q.in.KeyConditions) > max(2, len(schema.Partition())+len(schema.Sort())) {
		return wire.OpQuery.Invalid("Conditions can be of length 1 or 2 only")
	}
	slice, err := q.key.slice(schema)
	if err != nil {
		return cmp.Or(q.key.check(), read.CheckStartForm(), err)
	}

	q.answer = answer{}
	q.query = table.Query{Read: read, Slice: slice, Reverse: q.in.ScanIndexForward != nil && !*q.in.ScanIndexForward}
	err = cmp.Or(q.checkPaths(read.Table, schema), q.checkProjected(&q.query.Read, true))
	if err != nil {
		return cmp.Or(q.query.CheckStart(), err) // the service reports an error of the start key first
	}

	// The budget must admit the read before it begins, although the consumed capacity is known only afterwards.
	b := q.service.budget(q.ctx, false)
	if err := b.page(&read, slice.Partition); err != nil {
		return err
	}
	page, err := view.Query(&q.query, q.found)
	if err != nil {
		return err
	}

	b.spent(&read, slice.Partition, &page.Capacity)
	q.finish(q.ctx, read.Table, &page)
	return nil
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
