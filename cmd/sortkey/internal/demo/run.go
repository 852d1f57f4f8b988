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
	"github.com/sortkey/sortkey/cmd/sortkey/internal/slice"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/wire"
	"github.com/sortkey/sortkey/examples"
	"github.com/sortkey/sortkey/keycond"
	"github.com/sortkey/sortkey/sdk"
	"github.com/sortkey/sortkey/table"
)

// A Report is what the patterns of one system came to.
type Report struct {
	System  *examples.System
	Results []Result
	// Data is where the items came from, if the database was kept; otherwise
	// it is empty.
	Data Data
}

// Data says where the items of a system came from.
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
		if r.Results[i].Wrong == "" {
			n++
		}
	}
	return n
}

// A Result is what one pattern came to.
type Result struct {
	Pattern *examples.Pattern
	// Operation is Query, GetItem or Scan; Question says what was asked.
	Operation, Question string
	// Wrong says what is wrong with the answer; it is empty for a right one.
	Wrong string
	// Slices are what was read.
	Slices []slice.Words
	// Units are the read units consumed.
	Units float64
	// Items are the items returned, in order.
	Items []attr.Item
	// Keys are their primary keys.
	Keys []examples.Key
	// First lists the attributes to show first: the keys of what was asked.
	First []string
	// Err is the service's refusal, if it refused.
	Err error
}

// Run loads s into a database in memory and runs its patterns. An error means
// that s could not be run at all; a wrong answer is in the report.
func Run(ctx context.Context, s *examples.System) (*Report, error) {
	db, err := sortkey.Open(sortkey.Options{})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	client := sdk.Client(db)
	if err := model.Load(ctx, client, s); err != nil {
		return nil, err
	}
	return run(ctx, client, s)
}

// RunOn is Run on a database that may hold s already; what is missing of it is
// loaded, and the report says in Data which it was.
func RunOn(ctx context.Context, db *sortkey.DB, s *examples.System) (*Report, error) {
	client := sdk.Client(db)
	found, err := model.Ensure(ctx, client, s)
	if err != nil {
		return nil, err
	}
	report, err := run(ctx, client, s)
	if err != nil {
		return nil, err
	}
	report.Data = Loaded
	if found {
		report.Data = Found
	}
	return report, nil
}

func run(ctx context.Context, client *dynamodb.Client, s *examples.System) (*Report, error) {
	r := runner{client: client, tables: map[string]*model.Table{}}
	report := &Report{System: s}
	for i := range s.Patterns {
		res, err := r.run(ctx, &s.Patterns[i])
		if err != nil {
			return nil, fmt.Errorf("%s: pattern %q: %w", s.Name, s.Patterns[i].Name, err)
		}
		report.Results = append(report.Results, *res)
	}
	return report, nil
}

type runner struct {
	client *dynamodb.Client
	tables map[string]*model.Table
}

// run asks one question and judges the answer.
func (r *runner) run(ctx context.Context, p *examples.Pattern) (*Result, error) {
	operation, request := p.Operation()
	res := &Result{Pattern: p, Operation: operation}
	var traces []table.Trace
	ctx = table.WithTrace(ctx, func(tr table.Trace) { traces = append(traces, tr) })

	var target target
	var err error
	switch operation {
	case "Query":
		target, err = r.query(ctx, res, request)
	case "GetItem":
		target, err = r.get(ctx, res, request)
	default:
		target, err = r.scan(ctx, res, request)
	}
	if err != nil {
		// Only what the service says is an answer.
		if _, ok := errors.AsType[smithy.APIError](err); !ok {
			return nil, err
		}
		res.Err = err
	}
	if target.table == nil {
		res.Wrong = judge(p, res, nil)
		return res, nil
	}
	for _, tr := range traces {
		res.Slices = append(res.Slices, slice.Of(tr, target.table))
	}
	for _, item := range res.Items {
		res.Keys = append(res.Keys, keyOf(item, target.table.Key))
	}
	for _, a := range target.schema.Attributes() {
		res.First = append(res.First, a.Name)
	}
	res.Wrong = judge(p, res, target.schema)
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

func (r *runner) query(ctx context.Context, res *Result, request []byte) (target, error) {
	var in dynamodb.QueryInput
	if err := wire.Decode(request, &in); err != nil {
		return target{}, err
	}
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	res.Question = ask.Question(&in)
	target, err := r.target(ctx, in.TableName, in.IndexName)
	if err != nil {
		return target, err
	}
	out, err := r.client.Query(ctx, &in)
	if err != nil {
		return target, err
	}
	return target, res.took(out.Items, out.ConsumedCapacity)
}

func (r *runner) scan(ctx context.Context, res *Result, request []byte) (target, error) {
	var in dynamodb.ScanInput
	if err := wire.Decode(request, &in); err != nil {
		return target{}, err
	}
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	res.Question = ask.ScanQuestion(&in)
	target, err := r.target(ctx, in.TableName, in.IndexName)
	if err != nil {
		return target, err
	}
	out, err := r.client.Scan(ctx, &in)
	if err != nil {
		return target, err
	}
	return target, res.took(out.Items, out.ConsumedCapacity)
}

func (r *runner) get(ctx context.Context, res *Result, request []byte) (target, error) {
	var in dynamodb.GetItemInput
	if err := wire.Decode(request, &in); err != nil {
		return target{}, err
	}
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
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
	return target, res.took(items, out.ConsumedCapacity)
}

// took keeps what an answer holds.
func (res *Result) took(items []map[string]types.AttributeValue, capacity *types.ConsumedCapacity) error {
	if capacity != nil {
		res.Units = aws.ToFloat64(capacity.CapacityUnits)
	}
	for _, m := range items {
		item, err := wire.Item(m)
		if err != nil {
			return err
		}
		res.Items = append(res.Items, item)
	}
	return nil
}

func keyOf(item attr.Item, key *keycond.Schema) examples.Key {
	var k examples.Key
	for _, a := range key.Attributes() {
		k = append(k, item.Get(a.Name))
	}
	return k
}
