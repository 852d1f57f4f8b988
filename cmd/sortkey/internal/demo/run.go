package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/model"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/wire"
	"github.com/sortkey/sortkey/internal/design"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/sdkvalue"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/sdk"
)

// A Report is what the patterns of one model came to.
type Report struct {
	Model   *design.Model
	Results []Result
	// Data is where the items came from, if the database was kept; otherwise
	// it is empty.
	Data Data
}

// Data says where the items of a model came from.
type Data string

// The values of [Data].
const (
	Loaded Data = "loaded" // into the database, now
	Found  Data = "found"  // in the database, from an earlier run
)

// Right counts the patterns that were answered right.
func (r *Report) Right() int {
	n := 0
	for i := range r.Results {
		if r.Results[i].Right() {
			n++
		}
	}
	return n
}

// A Result is what one pattern came to: the pattern with its request, why
// there is none, and what is wrong with the answer; and the answer itself, as
// the client got it. Its report has what a client sees, which is not all that
// a check tells.
type Result struct {
	check.PatternResult
	// Question says what was asked.
	Question string
	// Slices are what was read.
	Slices []sortkey.Trace
	// ReadUnits are those that the service says it consumed.
	ReadUnits float64
	// Items are the items returned, in order.
	Items []attr.Item
	// First lists the attributes to show first: the keys of what was asked.
	First []string
	// Err is the service's refusal, if it refused.
	Err error

	count      int  // of rows returned
	projected  bool // the items are not whole
	generated  bool // the pattern counts generated items, which a demo has none of
	consistent bool
}

// Right reports whether the answer is right.
func (res *Result) Right() bool { return res.OK() }

// Run loads m into a database in memory and runs its patterns. An error means
// that m could not be run at all; a wrong answer is in the report.
func Run(ctx context.Context, m *design.Model) (*Report, error) {
	db, err := sortkey.Open(sortkey.Options{})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	client := sdk.Client(db)
	if err := model.Load(ctx, client, m); err != nil {
		return nil, err
	}
	return run(ctx, client, m)
}

// RunOn is Run on a database that may hold m already; what is missing of it is
// loaded, and the report says in Data which it was.
func RunOn(ctx context.Context, db *sortkey.DB, m *design.Model) (*Report, error) {
	client := sdk.Client(db)
	found, err := model.Ensure(ctx, client, m)
	if err != nil {
		return nil, err
	}
	report, err := run(ctx, client, m)
	if err != nil {
		return nil, err
	}
	report.Data = Loaded
	if found {
		report.Data = Found
	}
	return report, nil
}

func run(ctx context.Context, client *dynamodb.Client, m *design.Model) (*Report, error) {
	r := runner{m: m, client: client, tables: map[string]*model.Table{}}
	report := &Report{Model: m}
	for _, p := range m.Patterns {
		res, err := r.run(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("%s: pattern %q: %w", m.Name, p.Name, err)
		}
		report.Results = append(report.Results, *res)
	}
	return report, nil
}

type runner struct {
	m      *design.Model
	client *dynamodb.Client
	tables map[string]*model.Table
}

// run asks one question and judges the answer.
func (r *runner) run(ctx context.Context, p *design.Pattern) (*Result, error) {
	res := &Result{PatternResult: check.PatternResult{Pattern: p}}
	var err error
	res.Op, res.Request, err = p.Compile(r.m)
	if err != nil {
		var ok bool
		if res.Compile, ok = errors.AsType[*design.CompileError](err); !ok {
			return nil, err
		}
		res.Judge()
		return res, nil
	}
	var traces []sortkey.Trace
	ctx = sortkey.WithTrace(ctx, func(tr sortkey.Trace) { traces = append(traces, tr) })
	var target target
	switch res.Op {
	case "Query":
		target, err = r.query(ctx, res)
	case "GetItem":
		target, err = r.get(ctx, res)
	default:
		target, err = r.scan(ctx, res)
	}
	if err != nil {
		// Only what the service says is an answer.
		if _, ok := errors.AsType[smithy.APIError](err); !ok {
			return nil, err
		}
		res.Err = err
	}
	if target.table != nil {
		res.Slices = traces
		for _, a := range target.schema.Attributes() {
			res.First = append(res.First, a.Name)
		}
	}
	r.judge(res)
	return res, nil
}

// A target is what a request reads; its table is nil when there is none.
type target struct {
	table  *model.Table
	schema *keycond.Schema
}

func (r *runner) target(ctx context.Context, name, index *string) (target, error) {
	t := r.tables[aws.ToString(name)]
	if t == nil {
		var err error
		if t, err = model.Describe(ctx, r.client, aws.ToString(name)); err != nil {
			return target{}, err
		}
		r.tables[t.Name] = t
	}
	schema, ok := t.Schema(aws.ToString(index))
	if !ok {
		schema = t.Key // the service will say that there is no such index
	}
	return target{table: t, schema: schema}, nil
}

// more reports whether the rows after key are asked for too: those of the next
// page, unless the pattern wants a page of its own length.
func more(key map[string]types.AttributeValue, limit *int32) bool {
	return len(key) > 0 && limit == nil
}

func (r *runner) query(ctx context.Context, res *Result) (target, error) {
	var in dynamodb.QueryInput
	if err := wire.Decode(res.Request, &in); err != nil {
		return target{}, err
	}
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	res.Question = ask.Question(&in)
	res.projected, res.consistent = in.ProjectionExpression != nil || in.AttributesToGet != nil || in.Select != "", aws.ToBool(in.ConsistentRead)
	target, err := r.target(ctx, in.TableName, in.IndexName)
	if err != nil {
		return target, err
	}
	for {
		out, err := r.client.Query(ctx, &in)
		if err != nil {
			return target, err
		}
		if err := res.took(out.Items, int(out.Count), out.ConsumedCapacity); err != nil || !more(out.LastEvaluatedKey, in.Limit) {
			return target, err
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func (r *runner) scan(ctx context.Context, res *Result) (target, error) {
	var in dynamodb.ScanInput
	if err := wire.Decode(res.Request, &in); err != nil {
		return target{}, err
	}
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	res.Question = ask.ScanQuestion(&in)
	res.projected, res.consistent = in.ProjectionExpression != nil || in.AttributesToGet != nil || in.Select != "", aws.ToBool(in.ConsistentRead)
	target, err := r.target(ctx, in.TableName, in.IndexName)
	if err != nil {
		return target, err
	}
	for {
		out, err := r.client.Scan(ctx, &in)
		if err != nil {
			return target, err
		}
		if err := res.took(out.Items, int(out.Count), out.ConsumedCapacity); err != nil || !more(out.LastEvaluatedKey, in.Limit) {
			return target, err
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func (r *runner) get(ctx context.Context, res *Result) (target, error) {
	var in dynamodb.GetItemInput
	if err := wire.Decode(res.Request, &in); err != nil {
		return target{}, err
	}
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	res.projected, res.consistent = in.ProjectionExpression != nil || in.AttributesToGet != nil, aws.ToBool(in.ConsistentRead)
	target, err := r.target(ctx, in.TableName, nil)
	if err != nil {
		res.Question = ask.GetQuestion(&in, nil)
		return target, err
	}
	var names []string
	for _, a := range target.table.Key.Attributes() {
		names = append(names, a.Name)
	}
	res.Question = ask.GetQuestion(&in, names)
	out, err := r.client.GetItem(ctx, &in)
	if err != nil {
		return target, err
	}
	var items []map[string]types.AttributeValue
	if out.Item != nil {
		items = append(items, out.Item)
	}
	return target, res.took(items, len(items), out.ConsumedCapacity)
}

// took keeps what an answer holds.
func (res *Result) took(items []map[string]types.AttributeValue, count int, capacity *types.ConsumedCapacity) error {
	res.count += count
	if capacity != nil {
		res.ReadUnits += aws.ToFloat64(capacity.CapacityUnits)
	}
	for _, m := range items {
		item, err := sdkvalue.Item(m)
		if err != nil {
			return err
		}
		res.Items = append(res.Items, item)
	}
	return nil
}
