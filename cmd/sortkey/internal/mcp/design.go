package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/operation"
	"github.com/sortkey/sortkey/design/examples"
	"github.com/sortkey/sortkey/internal/design/advice"
	"github.com/sortkey/sortkey/internal/design/bill"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/lint"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/modelfile"
	"github.com/sortkey/sortkey/internal/design/report"
	"github.com/sortkey/sortkey/internal/text"
)

const whichModel = "text of a model, or the name of an example"

var designCheck = &operation.Operation{
	Name:  "design_check",
	Short: "Check a model",
	Does: `checks a design of keys: makes the items that a model declares, in memory and apart from the database
of the other tools, runs every access pattern on them, compares rows, units and waste with what the model expects,
and looks for hazards such as hot partitions, keys in the wrong order and indexes that no pattern reads`,
	Tool: operation.Help{
		Lead: "Use it after each change of a model.",
		More: `The answer is text: each pattern with its request, slice and cost, the tables, the findings with what to
do, and a summary; with the money a month if the model declares rates.`,
		Example: `{"model": "name: small\ntables: {Things: {partition: PK}}\n", "quiet": true}
{"model": "file-tree"}`,
	},
	Params: []*operation.Param{
		{Name: "model", Help: whichModel, Required: true, To: func(v *operation.Values) any { return &v.Model }},
		{
			Name: "quiet", Kind: operation.Switch, Help: "leave out patterns that meet their expectations, and tables",
			To: func(v *operation.Values) any { return &v.Quiet },
		},
		operation.Skip,
	},
}

// modelOf returns the example called name or, if name is the text of a model, that model.
func modelOf(name string) (*model.Model, error) {
	switch {
	case slices.Contains(examples.Names(), name):
		return models.Example(name)
	case !strings.ContainsAny(name, "\n{"):
		return nil, advice.New(
			"pass the text of the model itself; the examples are "+strings.Join(examples.Names(), ", "),
			"%s is neither an example nor the text of a model", text.Quote(name),
		)
	}
	return modelfile.Parse("model", []byte(name))
}

func (s *Server) check(ctx context.Context, v *operation.Values) (string, error) {
	m, err := modelOf(v.Model)
	if err != nil {
		return "", err
	}
	select { // check one model at a time, because datasets take memory
	case s.checks <- struct{}{}:
		defer func() { <-s.checks }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	w, err := dataset.Build(ctx, m, dataset.Options{})
	if err != nil {
		return "", err
	}
	defer w.Close()
	result, err := check.Run(ctx, w, check.Options{Lint: lint.Run})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := report.Text(&b, result, nil, report.TextOptions{Width: prose, Quiet: v.Quiet}); err != nil {
		return "", err
	}
	if money := bill.Of(result, bill.Known()); money.Declared() {
		fmt.Fprintf(&b, "\n%s\n", money)
	}
	return s.report(b.String(), v.Skip), nil
}
