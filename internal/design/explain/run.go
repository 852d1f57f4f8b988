package explain

import (
	"context"
	"errors"
	"fmt"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/internal/expr"
	"github.com/sortkey/sortkey/internal/expr/ast"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/wire"
	"github.com/sortkey/sortkey/keycond"
)

// Options configure [Run]. The zero value is ready to use.
type Options struct {
	// Pages limits the pages to read. Default: one page if the request has a Limit, otherwise [MaxPages].
	Pages int
	// Items limits the returned items and the rows that the report keeps. The report counts all of them. Default:
	// 1,000. If negative, the report keeps none.
	Items int
	// Classify returns the name of an item's entity, or "". If an index projects only some attributes, Classify gets
	// only these. It may be nil.
	Classify func(table string, it attr.Item) string
	// Brief omits everything that takes further requests: the rows outside the range, the hints, and the rule that a
	// refused request breaks.
	Brief bool
}

// MaxPages is the default limit on the pages that [Run] reads.
const MaxPages = 1000

const defaultItems = 1000

// Run sends the request of a question to a target and reports what it reads. If the service refuses the request,
// [Report.Refused] says why. Run returns an error if the target cannot be reached.
func Run(ctx context.Context, t Target, q Question, o Options) (*Report, error) {
	if o.Items == 0 {
		o.Items = defaultItems
	}
	if st, ok := q.Input.(*wire.ExecuteStatementInput); ok {
		return runSelect(ctx, t, st, q.JSON(), o)
	}
	r, ok := requestOf(q.Input)
	if !ok {
		return nil, &OperationError{q.Input.Op().String()}
	}

	e := &explainer{ctx: ctx, target: t, opts: o, asked: r, spelled: q.Spelled, report: &Report{
		Operation: r.op.String(), Table: value(r.TableName), Index: value(r.IndexName), Request: q.JSON(),
		Consistent: value(r.ConsistentRead), Limit: int(value(r.Limit)),
		Reverse: r.op == wire.OpQuery && r.ScanIndexForward != nil && !*r.ScanIndexForward,
		Start:   r.ExclusiveStartKey,
	}}
	if err := e.run(); err != nil {
		return nil, err
	}
	if q.Note != "" {
		e.report.Notes = append([]string{q.Note}, e.report.Notes...)
	}
	return e.report, nil
}

// An explainer makes one report.
type explainer struct {
	ctx    context.Context
	target Target
	opts   Options
	asked  request
	// spelled is the member Spelled of the question.
	spelled bool
	q       expressionSet
	info    *keyschema.Table // nil if the table does not exist
	index   *keyschema.Index // nil for the table itself
	slice   *keycond.Slice
	report  *Report
	shares  map[string]*Share
}

func (e *explainer) run() error {
	r := e.report
	e.shares = map[string]*Share{}
	asked := e.asked
	if mode := asked.ReturnConsumedCapacity; mode == nil || *mode == "NONE" || *mode == "TOTAL" {
		asked.ReturnConsumedCapacity = new("TOTAL")
	}

	first, err := e.ask(asked)
	if refused, ok := refusalOf(err); ok {
		return e.refuse(refused)
	}
	if err != nil {
		return err
	}
	if e.info, err = Describe(e.ctx, e.target, r.Table); err != nil {
		return err
	}

	r.Table, e.index = e.info.Name, e.info.Index(r.Index)
	r.Schema = e.info.Schema(r.Index)
	if e.index != nil {
		r.Projection = e.index.Projection
	}
	if r.Schema == nil {
		return fmt.Errorf(
			"the endpoint queried index %[2]s, which the description of table %[1]s does not have", r.Table, r.Index,
		)
	}

	if e.q, err = e.asked.parse(); err != nil {
		return fmt.Errorf("cannot parse a request that the endpoint accepted: %w", err)
	}
	if e.q.filter != nil {
		r.Filter = spelled.Condition(expr.Node(e.q.filter))
	}

	switch r.Operation {
	case opQuery:
		err = e.query(asked, first, e.q.key)
	case opScan:
		err = e.pages(asked, first)
	case opGetItem:
		err = e.query(asked, first, e.equals(e.asked.Key))
		r.Stop = stopKey
	}
	if refused, ok := refusalOf(err); ok { // of a later page
		return e.refuse(refused)
	}
	if err != nil {
		return err
	}

	e.total()
	if !e.opts.Brief {
		e.improve()
	}
	return nil
}

// stopKey is the value of [Report.Stop] for a GetItem.
const stopKey = "one key"

// equals returns the condition that the key attributes have the values in key.
func (e *explainer) equals(key attr.Item) *expr.Condition {
	var equal []ast.Node
	for _, a := range e.report.Schema.Attributes() {
		equal = append(equal, equalTo(a.Name, key.Get(a.Name)).node)
	}
	return expr.NewCondition(conjunction(equal))
}

// query reports the range of a key condition, the rows in it, and the rows just outside it.
func (e *explainer) query(asked request, first *page, key *expr.Condition) error {
	slice, err := compile(e.report.Schema, key)
	if err != nil {
		return fmt.Errorf("the endpoint accepted a query that is not one range: %w", err)
	}
	e.slice = slice
	e.report.bounds(slice)
	if err := e.pages(asked, first); err != nil {
		return err
	}
	return e.adjacentRows()
}

func compile(s *keycond.Schema, c *expr.Condition) (*keycond.Slice, error) {
	if c == nil {
		return nil, errors.New("it has no key condition")
	}
	return keycond.Compile(s, c)
}

// refusalOf returns err as a [*ServiceError] if the service found the request itself wrong. It returns false for
// other errors, such as throttling.
func refusalOf(err error) (*ServiceError, bool) {
	e, ok := errors.AsType[*ServiceError](err)
	if !ok {
		return nil, false
	}
	switch e.Code {
	case "ValidationException", "SerializationException", "ResourceNotFoundException":
		return e, true
	}
	return nil, false
}
