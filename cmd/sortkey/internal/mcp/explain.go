package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/keyschema"
	"github.com/sortkey/sortkey/internal/text"
)

type explainArgs struct {
	Table      word       `json:"table,omitempty" jsonschema:"name of the table; this and what follows as in query"`
	Partition  word       `json:"partition,omitempty" jsonschema:"value of the partition key"`
	Sort       word       `json:"sort,omitempty" jsonschema:"condition on the sort key"`
	Index      word       `json:"index,omitempty" jsonschema:"name of the index"`
	Filter     string     `json:"filter,omitempty" jsonschema:"condition on any attributes"`
	Limit      int32      `json:"limit,omitempty" jsonschema:"read at most so many rows"`
	Descending bool       `json:"descending,omitempty" jsonschema:"read from the end of the range"`
	Consistent bool       `json:"consistent,omitempty" jsonschema:"read consistently"`
	Request    rawRequest `json:"request,omitempty" jsonschema:"or instead: JSON, 'aws dynamodb query …' or a SELECT"`
	Pattern    string     `json:"pattern,omitempty" jsonschema:"or instead: name of an access pattern; see tables"`
	Pages      int        `json:"pages,omitempty" jsonschema:"read at most so many pages; default 10"`
	Rows       int        `json:"rows,omitempty" jsonschema:"show so many rows at each end of the range; default 4"`
	Skip       int        `json:"skip,omitempty" jsonschema:"leave out so many lines, to go on after a cut"`
}

// rawRequest is a request: an object, or a string with anything.
type rawRequest string

// UnmarshalJSON reads a string, or an object as its text.
func (t *rawRequest) UnmarshalJSON(data []byte) error {
	if data[0] == '{' {
		*t = rawRequest(data)
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}

var explainTool = tool{name: "explain", title: "Explain what a request reads", description: `
Says in words what a Query, Scan or GetItem reads and what it costs: the key condition as one range with its
ends, the rows in the range and those just outside it, the rows that a filter drops (marked ✗), pages, read
units, and a better request if there is one. For a request that the service refuses it names the rule that the
request breaks and the nearest requests that work, each as a call of query. Use it when a query costs more than
it returns, returns not what you expect, or fails, and before you advise somebody on a request from their code.
It reads somewhat more than the request itself. The answer is text.
Examples: {"table": "Shop", "partition": "CUSTOMER#C1", "sort": "ORDER#*", "filter": "total > 100"}
{"request": "SELECT * FROM Shop WHERE begins_with(PK, 'CUSTOMER#')"}
{"request": "aws dynamodb query --table-name Shop --key-condition-expression …"}
{"request": {"TableName": "Shop", "Key": {"PK": {"S": "CUSTOMER#C1"}, "SK": {"S": "ORDER#O1"}}}}
{"pattern": "orders of a customer"}`}

// explainPages is the default number of pages that an explanation reads.
const explainPages = 10

func (s *Server) explain(ctx context.Context, in explainArgs) (answer string, err error) {
	err = s.read(func(d *side) error {
		q, err := s.question(ctx, d, &in)
		if err != nil {
			return err
		}
		o := explain.Options{Pages: min(max(in.Pages, 0), explain.MaxPages)}
		o.Pages = cmp.Or(o.Pages, explainPages)
		if m := d.model.Load(); m != nil {
			o.Classify = m.EntityName
		}
		report, err := explain.Run(ctx, d.target, q, o)
		if err != nil {
			return service(err, q.Input)
		}
		s.logReport(report, &q)
		var t *keyschema.Table
		if report.Schema != nil {
			t, _ = d.describe(ctx, report.Table) // only the form of the requests depends on it
		}
		var b strings.Builder
		if err := report.WriteText(&b, explain.TextOptions{
			Prose: prose, Rows: min(max(in.Rows, 0), 1000), Command: commandOf(t),
		}); err != nil {
			return err
		}
		answer = s.report(b.String(), in.Skip)
		return nil
	})
	return answer, err
}

// logReport adds the request of a report to the log.
func (s *Server) logReport(r *explain.Report, q *explain.Question) {
	line := request{Tool: "explain", Request: cmp.Or(ask.Question(q.Input, r.Schema), string(q.JSON()))}
	line.Request, _ = s.cut(line.Request, 0)
	if r.Refused != nil {
		line.Error = cmp.Or(r.Refused.Code, "not one range")
	} else {
		line.Examined, line.Returned, line.Reads = &r.Examined, &r.Returned, cmp.Or(r.Consumed, r.Units(false))
	}
	s.log.add(line)
}

// question returns the request to explain.
func (s *Server) question(ctx context.Context, d *side, in *explainArgs) (q explain.Question, err error) {
	ways := 0
	for _, given := range []bool{in.Table != "", in.Request != "", in.Pattern != ""} {
		if given {
			ways++
		}
	}
	const help = "give table and partition as in query, or request, or pattern"
	switch {
	case ways == 0:
		return q, advice.New(help, "explain needs a request")
	case ways > 1:
		return q, advice.New(help, "explain takes one request")
	case in.Pattern != "":
		return pattern(d.model.Load(), in.Pattern)
	case in.Request != "":
		return s.parse(strings.TrimSpace(string(in.Request)))
	case in.Partition == "":
		return q, advice.New(help, "explain needs a partition of %s", in.Table)
	}

	t, err := d.describe(ctx, string(in.Table))
	if err != nil {
		return q, err
	}
	args := queryArgs{
		Table: in.Table, Partition: in.Partition, Sort: in.Sort, Index: in.Index, Filter: in.Filter, Limit: in.Limit,
		Descending: in.Descending, Consistent: in.Consistent,
	}
	query, err := args.query()
	if err != nil {
		return q, err
	}
	input, err := query.Input(t)
	if err == nil {
		return explain.Question{Input: input}, nil
	}
	if other := onOther(&query, t); other != nil {
		return q, other
	}
	if meant, ok := query.Meant(t); ok {
		return explain.Question{Input: meant}, nil
	}
	return q, asked(err)
}

// pattern returns the request of an access pattern of the model.
func pattern(m *model.Model, name string) (q explain.Question, err error) {
	if m == nil {
		return q, advice.New(
			"give table and partition, or request", "the database does not come from a model, so there are no patterns",
		)
	}
	p := m.Pattern(name)
	if p == nil {
		var names []string
		for _, p := range m.Patterns {
			names = append(names, p.Name)
		}
		help := cmp.Or(text.DidYouMean(name, names), "call tables for their names")
		return q, advice.New(help, "the model has no pattern %s", text.Quote(name))
	}
	if p.Request != nil {
		return explain.Parse(p.Operation, p.Request)
	}
	input, err := compile.Pattern(m, p)
	if err != nil {
		return q, fmt.Errorf("%s is not one request: %w", p.Name, err)
	}
	return explain.Question{Input: input, Text: compile.JSON(input)}, nil
}

// parse returns the request in a text: JSON, a line of the AWS CLI or a SELECT.
func (s *Server) parse(line string) (explain.Question, error) { return ask.Request(line, s.readFile) }
