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

// explainPages is the default number of pages that an explanation reads.
const explainPages = 10

func (s *Server) explain(ctx context.Context, in *operation.Values) (string, error) {
	q, err := s.question(ctx, in)
	if err != nil {
		return "", err
	}
	o := explain.Options{Pages: cmp.Or(min(max(int(in.Pages), 0), explain.MaxPages), explainPages)}
	if m := s.o.Model; m != nil {
		o.Classify = m.EntityName
	}
	report, err := explain.Run(ctx, s.o.Target, q, o)
	if err != nil {
		return "", err
	}

	var b strings.Builder
	how := explain.TextOptions{Prose: prose, Rows: min(max(int(in.Rows), 0), 1000)}
	if err := report.WriteText(&b, how); err != nil {
		return "", err
	}
	return s.report(b.String(), in.Skip), nil
}

// question returns the request that the arguments of the tool explain name. There are three ways to name it: by the
// arguments of a query, by a whole request, or by an access pattern.
func (s *Server) question(ctx context.Context, in *operation.Values) (q explain.Question, err error) {
	ways := 0
	for _, given := range []string{in.Table, in.Request, in.Pattern} {
		if given != "" {
			ways++
		}
	}
	const help = "give table and partition as in query, or request, or pattern"
	switch {
	case ways == 0:
		return q, advice.New(help, "explain needs a request")
	case ways > 1:
		return q, advice.New(help, "explain takes one request")
	case in.Table == "" && in.RefuseOptions() != nil:
		return q, asked(in.RefuseOptions())
	case in.Pattern != "":
		return pattern(s.o.Model, in.Pattern)
	case in.Request != "":
		return ask.ReadRequest("the request", in.Request)
	case strings.Join(in.Partition, "") == "":
		return q, advice.New(help, "explain needs a partition of %s", in.Table)
	}

	t, err := s.describe(ctx, in.Table)
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
	return explain.Question{Input: input, Spelled: true}, nil
}

// pattern returns the request of an access pattern of m, the model of the database.
func pattern(m *model.Model, name string) (q explain.Question, err error) {
	if m == nil {
		return q, advice.New(
			"give table and partition, or request", "the database does not come from a model, so there are no patterns",
		)
	}
	return models.PatternRequest(m, name)
}
