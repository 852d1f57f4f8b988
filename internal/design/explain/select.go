package explain

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/sortkey/sortkey/internal/design/literal"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/text"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

const pageSelect = guide + "ql-reference.select.html"

// runSelect explains a SELECT as the requests that the service makes of it. If WHERE compares each attribute of the
// partition key with =, the service makes a Query. If WHERE uses IN or OR for these comparisons, it makes several
// queries. Otherwise, it makes a Scan. Source: DG/ql-reference.select.html.
func runSelect(
	ctx context.Context, t Target, in *wire.ExecuteStatementInput, written json.RawMessage, o Options,
) (*Report, error) {
	s, err := parseSelect(in)
	if err != nil {
		return nil, err
	}

	scan := func(note string) (*Report, error) { return Run(ctx, t, Question{Input: s.scan.input(), Note: note}, o) }
	table, index := value(s.scan.TableName), value(s.scan.IndexName)
	info, err := Describe(ctx, t, table)
	if _, ok := refusalOf(err); ok {
		return scan("") // reports the error
	}
	if err != nil {
		return nil, err
	}

	schema := info.Schema(index)
	if schema == nil {
		return scan("")
	}
	e := &explainer{ctx: ctx, target: t, opts: o, asked: s.scan, info: info, index: info.Index(index), report: &Report{
		Operation: opSelect, Table: info.Name, Index: index, Request: written, Schema: schema,
		Consistent: value(s.scan.ConsistentRead), Limit: int(value(s.scan.Limit)),
	}}
	if e.q, err = s.scan.parse(); err != nil {
		return nil, fmt.Errorf("cannot parse the statement: %w", err)
	}

	plans, whole := e.selected(schema)
	switch {
	case s.ordered != "" && !(whole && schema.Has(s.ordered)):
		e.report.Refused = &Refusal{
			Code: "ValidationException", Message: "ORDER BY " + text.Name(s.ordered) + " is not the order of this read",
			Rule: "rows are ordered only within a partition, by the sort key: ORDER BY needs a key attribute, and " +
				"WHERE with = or IN on the partition key", Source: pageSelect,
		}
		return e.report, nil
	case !whole:
		return scan("the SELECT is a scan: WHERE does not fix the partition key, " + equalities(schema.Partition()))
	case len(plans) == 0:
		return nil, fmt.Errorf("no row can satisfy all conditions of the statement")
	case len(plans) > 1:
		e.report.Refused = &Refusal{
			Message: fmt.Sprintf(
				"the SELECT is %d queries, one for each range of IN or OR; each is explained separately", len(plans),
			),
			Source: pageSelect,
		}
		for i, p := range plans {
			e.hint("%d of %d: %s", i+1, len(plans), p.words(spelled))
		}
		return e.report, nil
	}

	note := "the SELECT has " + equalities(schema.Partition()) + ", so it is this Query"
	for _, more := range plans[0].remarks {
		note += "; " + more
	}
	if len(plans[0].dropped) > 0 {
		dropped := spelled.Condition(conjunction(plans[0].dropped))
		note += "; its other conditions, " + dropped + ", are checked after the rows are read"
	}
	note += ". Sent as a Query, it can never become a scan"
	return Run(ctx, t, Question{Input: e.planQuery(plans[0], s.reverse), Note: note}, o)
}

// planQuery returns the Query of a plan. It has the index, the order, the limit and the projection of the statement.
func (e *explainer) planQuery(p *plan, reverse bool) wire.Request {
	b := &literal.Placeholders{Readable: true}
	q := &wire.QueryInput{
		TableName: e.asked.TableName, ConsistentRead: e.asked.ConsistentRead, Limit: e.asked.Limit,
		KeyConditionExpression: new(b.KeyCondition(p.clauses)),
	}
	if p.index != nil {
		q.IndexName = new(p.index.Key.Name())
	}
	if reverse {
		q.ScanIndexForward = new(false)
	}
	if len(p.filter) > 0 {
		q.FilterExpression = new(b.Condition(conjunction(p.filter)))
	}
	if e.q.projection != nil {
		q.ProjectionExpression = new(b.Projection(slices.Collect(expr.Paths(e.q.projection))))
	}
	q.ExpressionAttributeNames, q.ExpressionAttributeValues = b.Names(), b.Values()
	return q
}

// selected returns plans for the queries that the service makes of a SELECT. whole is false if the service makes a
// scan.
func (e *explainer) selected(s *keycond.Schema) (plans []*plan, whole bool) {
	if e.q.filter == nil {
		return nil, false
	}
	groups, ok := normal(expr.Node(e.q.filter), e.info.IsKey)
	if !ok {
		return nil, false
	}
	for _, g := range groups {
		p, ok := e.plan(g, e.index)
		if !ok || !g.fixes(s) {
			return nil, false
		}
		same := func(q *plan) bool { return q.words(spelled) == p.words(spelled) }
		if !p.empty && !slices.ContainsFunc(plans, same) {
			plans = append(plans, p)
		}
	}
	return plans, true
}
