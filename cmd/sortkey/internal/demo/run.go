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

// A Report holds the results of the patterns of one model.
type Report struct {
	Model   *design.Model
	Results []Result
	// Data is the origin of the items in a database on disk, otherwise "".
	Data Data
}

// Data is the origin of the items of a model.
type Data string

// The values of [Data].
const (
	Loaded Data = "loaded" // this run loaded them
	Found  Data = "found"  // an earlier run loaded them
)

// Right counts the patterns with a right answer.
func (r *Report) Right() int {
	n := 0
	for i := range r.Results {
		if r.Results[i].Right() {
			n++
		}
	}
	return n
}

// A Result is the result of one pattern: its request, or the reason why it is not
// one request, the answer that the client received, and the failures. The report
// in it has only what a client sees, which is less than in design check.
type Result struct {
	check.PatternResult
	// Question describes the request in words.
	Question string
	// Slices are the slices that were read.
	Slices []sortkey.Trace
	// ReadUnits is the capacity that the service reported.
	ReadUnits float64
	// Items are the items returned, in order.
	Items []attr.Item
	// First lists the attributes to show first: the key of the table or index.
	First []string
	// Err is the service's error, or nil.
	Err error

	count      int  // of rows returned
	projected  bool // the items may lack attributes
	consistent bool
}

// Right reports whether the answer is right.
func (res *Result) Right() bool { return res.OK() }

// Run loads m into a database in memory and runs its patterns. Wrong answers are
// in the report; an error means that m could not be run.
func Run(ctx context.Context, m *design.Model) (*Report, error) {
	w, err := design.Build(ctx, m, design.Options{})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	return run(ctx, sdk.Client(w.DB), m)
}

// RunOn is Run on a database that may have the items of m. It loads missing
// items, and sets Data in the report.
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

// run makes the request of one pattern and judges the answer.
func (r *runner) run(ctx context.Context, p *design.Pattern) (*Result, error) {
	res := &Result{PatternResult: check.PatternResult{Pattern: p}}
	var err error
	if res.Input, err = p.Compile(r.m); err != nil {
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
	switch res.Pattern.Operation {
	case "Query":
		target, err = r.query(ctx, res)
	case "GetItem":
		target, err = r.get(ctx, res)
	default:
		target, err = r.scan(ctx, res)
	}
	if err != nil {
		// Only errors of the service count as answers.
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

// A target is the table or index that a request reads. The table is nil if it
// does not exist.
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
		schema = t.Key // the service will report the missing index
	}
	return target{table: t, schema: schema}, nil
}

// more reports whether to read the next page: if there is one, and the pattern
// has no limit of its own.
func more(key map[string]types.AttributeValue, limit *int32) bool {
	return len(key) > 0 && limit == nil
}

func (r *runner) query(ctx context.Context, res *Result) (target, error) {
	var in dynamodb.QueryInput
	if err := wire.Decode(res.Request(), &in); err != nil {
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
		if err := res.add(out.Items, int(out.Count), out.ConsumedCapacity); err != nil || !more(out.LastEvaluatedKey, in.Limit) {
			return target, err
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func (r *runner) scan(ctx context.Context, res *Result) (target, error) {
	var in dynamodb.ScanInput
	if err := wire.Decode(res.Request(), &in); err != nil {
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
		if err := res.add(out.Items, int(out.Count), out.ConsumedCapacity); err != nil || !more(out.LastEvaluatedKey, in.Limit) {
			return target, err
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func (r *runner) get(ctx context.Context, res *Result) (target, error) {
	var in dynamodb.GetItemInput
	if err := wire.Decode(res.Request(), &in); err != nil {
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
	return target, res.add(items, len(items), out.ConsumedCapacity)
}

// add adds one response to the result.
func (res *Result) add(items []map[string]types.AttributeValue, count int, capacity *types.ConsumedCapacity) error {
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
