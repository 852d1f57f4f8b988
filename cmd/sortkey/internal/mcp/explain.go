package mcp

import (
	"cmp"
	"context"
	"strings"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
)

var explainTool = tool{name: "explain", title: operation.Explain.Short, description: `
Says in words what a Query, Scan or GetItem reads and what it costs: the key condition as one range with its
ends, the rows in the range and those just outside it, the rows that a filter drops (marked ✗), pages, read
units, and how to read less if there is a way. For a request that the service refuses it names the rule that the
request breaks and what to ask instead. Use it when a query costs more than it returns, returns not what you
expect, or fails, and before you advise somebody on a request from their code.
It reads somewhat more than the request itself. The answer is text.
Examples: {"table": "Shop", "partition": "CUSTOMER#C1", "sort": "ORDER#*", "filter": "total > 100"}
{"request": "SELECT * FROM Shop WHERE begins_with(PK, 'CUSTOMER#')"}
{"request": {"TableName": "Shop", "Key": {"PK": {"S": "CUSTOMER#C1"}, "SK": {"S": "ORDER#O1"}}}}
{"pattern": "orders of a customer"}`}

// explainPages is the default number of pages that an explanation reads.
const explainPages = 10

func (s *Server) explain(ctx context.Context, in *operation.Values) (answer string, err error) {
	err = s.read(func(d *side) error {
		q, err := s.question(ctx, d, in)
		if err != nil {
			return err
		}
		o := explain.Options{Pages: min(max(int(in.Pages), 0), explain.MaxPages)}
		o.Pages = cmp.Or(o.Pages, explainPages)
		if m := d.model.Load(); m != nil {
			o.Classify = m.EntityName
		}
		report, err := explain.Run(ctx, d.target, q, o)
		if err != nil {
			return service(err, q.Input)
		}
		s.logReport(report, &q)
		var b strings.Builder
		how := explain.TextOptions{Prose: prose, Rows: min(max(int(in.Rows), 0), 1000)}
		if err := report.WriteText(&b, how); err != nil {
			return err
		}
		answer = s.report(b.String(), int(in.Skip))
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
func (s *Server) question(ctx context.Context, d *side, in *operation.Values) (q explain.Question, err error) {
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
		return new(ask.RequestReader).Read(in.Request)
	case strings.Join(in.Partition, "") == "":
		return q, advice.New(help, "explain needs a partition of %s", in.Table)
	}

	t, err := d.describe(ctx, in.Table)
	if err != nil {
		return q, err
	}
	if err := operation.Explain.Parse(in); err != nil {
		return q, asked(err)
	}
	input, err := in.Input(t)
	if err != nil {
		return q, asked(err)
	}
	return explain.Question{Input: input}, nil
}

// pattern returns the request of an access pattern of the model.
func pattern(m *model.Model, name string) (q explain.Question, err error) {
	if m == nil {
		return q, advice.New(
			"give table and partition, or request", "the database does not come from a model, so there are no patterns",
		)
	}
	p, err := models.Pattern(m, name)
	if err != nil {
		return q, err
	}
	return models.PatternRequest(m, p)
}
