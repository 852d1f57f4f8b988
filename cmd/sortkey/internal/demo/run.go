package demo

import (
	"context"
	"fmt"
	"math"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/sortkey/sortkey"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/models"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/sdktarget"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/sdk"
)

// A Report holds the results of the patterns of one model.
type Report struct {
	Model   *model.Model
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

// A Result is the result of one pattern, as in design check, with the request in words.
type Result struct {
	check.PatternResult
	Question string
}

// Right reports whether the answer is right.
func (res *Result) Right() bool { return res.OK() }

// Run loads m into a database in memory and runs its patterns. Wrong answers are
// in the report; an error means that m could not be run.
func Run(ctx context.Context, m *model.Model) (*Report, error) {
	w, err := dataset.Build(ctx, m, dataset.Options{})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	return run(ctx, sdk.Client(w.DB), m)
}

// RunOn is Run on a database that may have the items of m. It loads missing
// items, and sets Data in the report.
func RunOn(ctx context.Context, db *sortkey.DB, m *model.Model) (*Report, error) {
	client := sdk.Client(db)
	loaded, err := models.Ensure(ctx, client, m, dataset.Options{})
	if err != nil {
		return nil, err
	}
	report, err := run(ctx, client, m)
	if err != nil {
		return nil, err
	}
	report.Data = Loaded
	if loaded.Found {
		report.Data = Found
	}
	return report, nil
}

func run(ctx context.Context, client *dynamodb.Client, m *model.Model) (*Report, error) {
	report := &Report{Model: m}
	to := sdktarget.New(client)
	all := explain.Options{Items: math.MaxInt, Classify: m.EntityName, Brief: true}
	for _, p := range m.Patterns {
		if p.IsWrite() { // design check counts these; a demo only reads
			continue
		}
		pr, err := check.Through(ctx, to, m, p, all)
		if err != nil {
			return nil, fmt.Errorf("%s: pattern %q: %w", m.Name, p.Name, err)
		}
		res := Result{PatternResult: pr}
		if pr.Report != nil {
			res.Question = ask.Question(pr.Input, pr.Report.Schema)
		}
		report.Results = append(report.Results, res)
	}
	return report, nil
}
