package demo

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/sortkey/sortkey/cmd/sortkey/internal/ask"
	"github.com/sortkey/sortkey/cmd/sortkey/internal/show"
	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/explain"
	"github.com/sortkey/sortkey/internal/design/model"
)

// A Report holds the results of the patterns of one model.
type Report struct {
	Model   *model.Model
	Results []Result
}

// A Result is the result of a pattern, as design check returns it, and the request of the pattern in words.
type Result struct {
	check.PatternResult
	Question string
}

// All runs the patterns of models and prints a report of each model. At the end it prints a summary, which says how
// many answers are right. It returns the summary, and whether all answers are right.
func All(
	ctx context.Context, w io.Writer, models []*model.Model, style show.Style,
) (summary string, right bool, err error) {
	ok, total := 0, 0
	for _, m := range models {
		r, err := Run(ctx, m)
		if err != nil {
			return "", false, err
		}
		Print(w, r, style)
		fmt.Fprintln(w)
		for i := range r.Results {
			if total++; r.Results[i].OK() {
				ok++
			}
		}
	}
	summary, paint := fmt.Sprintf("%d of %d access patterns right", ok, total), style.Paint.Bad
	if right = ok == total; right {
		paint = style.Paint.Good
	}
	_, err = fmt.Fprintln(w, paint(summary))
	return summary, right, err
}

// Run loads m into a database in memory and runs the patterns that do not write. A wrong answer is not an error: the
// report contains it. Run returns an error only if it cannot run m.
func Run(ctx context.Context, m *model.Model) (*Report, error) {
	w, err := dataset.Build(ctx, m, dataset.Options{})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	report := &Report{Model: m}
	to := explain.InProcess(w.DB)
	all := explain.Options{Items: math.MaxInt, Classify: m.EntityName, Brief: true}
	for _, p := range m.Patterns {
		if p.IsWrite() { // a demo does not write; design check does
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
