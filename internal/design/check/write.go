package check

import (
	"context"
	"errors"

	"github.com/sortkey/sortkey/internal/design/compile"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/load"
	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/text"
)

// runWrite tries a pattern that writes with items of the dataset, and compares the result with its expectations.
func runWrite(ctx context.Context, w *dataset.Dataset, p *model.Pattern) (PatternResult, error) {
	pr := PatternResult{Pattern: p, Growth: 1}
	j := judge{p: p, pr: &pr}
	var err error
	pr.Writes, err = load.TableOf(w).Writes(ctx, p)
	ce, isCompile := errors.AsType[*compile.Error](err)
	switch {
	case isCompile:
		j.fail(nil, ce.Advice, "%s", ce.Msg)
	case errors.Is(err, load.ErrNoItem):
		j.fail(nil, "use values of a sample, or leave where out", "%v", err)
	case err != nil:
		return pr, err
	default:
		pr.Input = pr.Writes.Request
		j.written()
	}
	return pr, nil
}

// written fails the pattern if the service refuses the write, or if it costs more than its budget.
func (j *judge) written() {
	c, x := j.pr.Writes, j.p.Expect
	switch {
	case c.Refused != nil:
		j.fail(nil, "", "the service refuses the request: %s: %s", c.Refused.Code, c.Refused.Message)
	case c.Items == 0:
		j.fail(nil, "check the condition, or narrow where to items that meet it",
			"the condition refuses the write of %s",
			text.Agree(c.Unmet, "the only item", "all "+text.Count(c.Unmet, "item")))
	case x.Units != nil:
		got, of := c.Worst, "the most expensive item"
		switch x.Budget {
		case model.BudgetSample:
			got, of = c.First, "the first item"
		case model.BudgetP95:
			got, of = c.P95, "95 of 100 items"
		}
		if got > *x.Units {
			j.fail(
				nil, "project less into the indexes, or leave the entity out of one",
				"expected at most %s, got %s for %s", writeUnits(*x.Units), text.Figure(got), of,
			)
		}
	}
}

func writeUnits(f float64) string {
	return text.Amount(text.Figure(f), "write unit")
}
