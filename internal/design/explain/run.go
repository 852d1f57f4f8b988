package explain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/attr"
	"github.com/sortkey/sortkey/expr"
	"github.com/sortkey/sortkey/keycond"
)

// Options configure [Run]. The zero value is ready to use.
type Options struct {
	// Pages limits the pages to read. Default: one if the request has a Limit,
	// otherwise [MaxPages].
	Pages int
	// Items limits the rows and items to keep in the report, which counts all
	// of them. Default: 1,000. If negative, none are kept.
	Items int
	// Classify returns the entity of an item of a table, or "". It may be nil.
	// The item lacks attributes that an index does not hold.
	Classify func(table string, it attr.Item) string
	// Brief leaves out the rows beside the range and the advice, which take
	// requests of their own.
	Brief bool
}

// MaxPages is the default limit on the pages that [Run] reads.
const MaxPages = 1000

const defaultItems = 1000

// The operations that can be explained.
const (
	opQuery   = "Query"
	opScan    = "Scan"
	opGetItem = "GetItem"
)

// Operation returns the name of an operation from a spelling such as query or
// get-item, and whether it can be explained.
func Operation(op string) (string, bool) {
	switch strings.ToLower(strings.ReplaceAll(op, "-", "")) {
	case "query":
		return opQuery, true
	case "scan":
		return opScan, true
	case "getitem", "get":
		return opGetItem, true
	case "executestatement", "select":
		return opSelect, true
	}
	return op, false
}

// Run sends a request to a target and reports what it reads. For a request that
// the service refuses, it returns a report with [Report.Refused] set. It fails
// if the target cannot be reached.
func Run(ctx context.Context, t Target, op string, request json.RawMessage, o Options) (*Report, error) {
	name, ok := Operation(op)
	if !ok {
		return nil, fmt.Errorf("cannot explain %q: only Query, Scan, GetItem and the SELECT of an ExecuteStatement", op)
	}
	m, err := parseMembers(request)
	if err != nil {
		return nil, err
	}
	if o.Items == 0 {
		o.Items = defaultItems
	}
	if name == opSelect {
		return runSelect(ctx, t, m, o)
	}
	e := &explainer{ctx: ctx, target: t, opts: o, m: m, report: &Report{
		Operation: name, Table: m.text("TableName"), Index: m.text("IndexName"), Request: request,
		Consistent: m.flag("ConsistentRead", false), Limit: m.number("Limit"),
		Reverse: name == opQuery && !m.flag("ScanIndexForward", true),
		Start:   m.item("ExclusiveStartKey"),
	}}
	if err := e.run(); err != nil {
		return nil, err
	}
	return e.report, nil
}

// An explainer makes one report.
type explainer struct {
	ctx    context.Context
	target Target
	opts   Options
	m      members
	q      expressionSet
	info   *tableInfo // nil if the table does not exist
	index  *indexInfo // nil for the table itself
	slice  *keycond.Slice
	report *Report
	shares map[string]*Share
}

func (e *explainer) run() error {
	r := e.report
	e.shares = map[string]*Share{}
	asked := e.m.without()
	if mode := e.m.text("ReturnConsumedCapacity"); mode == "" && !e.m.has("ReturnConsumedCapacity") || mode == "NONE" || mode == "TOTAL" {
		asked.set("ReturnConsumedCapacity", "TOTAL")
	}
	first, err := e.ask(asked)
	if refused, ok := refusalOf(err); ok {
		return e.refuse(refused)
	}
	if err != nil {
		return err
	}
	if e.info, err = describe(e.ctx, e.target, r.Table); err != nil {
		return err
	}
	r.Table, e.index = e.info.name, e.info.index(r.Index)
	r.Schema = e.info.schema(r.Index)
	if e.index != nil {
		r.Projection = e.index.projection
	}
	if r.Schema == nil {
		return fmt.Errorf("the endpoint queried index %[2]s, which the description of table %[1]s does not have", r.Table, r.Index)
	}
	if e.q, err = e.m.expressions(); err != nil {
		return fmt.Errorf("cannot parse a request that the endpoint accepted: %w", err)
	}
	if e.q.filter != nil {
		r.Filter = spelled.Condition(e.q.filter.Root)
	}
	switch r.Operation {
	case opQuery:
		err = e.query(asked, first)
	case opScan:
		err = e.pages(asked, first)
	case opGetItem:
		err = e.get(asked, first)
	}
	if err != nil {
		return err
	}
	e.total()
	if e.opts.Brief {
		return nil
	}
	return e.improve()
}

func (e *explainer) query(asked members, first *page) error {
	slice, err := compile(e.report.Schema, e.q.key)
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

// refusalOf returns the service's refusal of a request, as opposed to other
// failures.
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
