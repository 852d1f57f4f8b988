package lint

import (
	"context"

	"github.com/sortkey/sortkey/internal/design/check"
	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
)

var (
	OnPattern  = onPattern
	WriteIndex = writeIndex
)

// RunAlone runs the patterns of a dataset and returns the findings of [Run].
func RunAlone(ctx context.Context, w *dataset.Dataset) ([]model.Finding, error) {
	r, err := check.Run(ctx, w, check.Options{})
	if err != nil {
		return nil, err
	}
	return Run(ctx, w, r.Patterns)
}

// RunRules is RunAlone with other rules.
func RunRules(ctx context.Context, w *dataset.Dataset, rules []Rule) ([]*Finding, error) {
	r, err := check.Run(ctx, w, check.Options{})
	if err != nil {
		return nil, err
	}
	return runRules(ctx, w, r.Patterns, rules)
}

// A Proposed is a finding whose advice is a proposal.
type Proposed struct {
	model.Finding
	Apply func() (*model.Model, error)
}

// Proposals returns the findings of [Run], the findings whose advice is a proposal, and for comparison the model to
// which the proposals apply.
func Proposals(ctx context.Context, w *dataset.Dataset) (printed []model.Finding, all []Proposed, base *model.Model, err error) {
	found, err := RunRules(ctx, w, Rules())
	if err != nil {
		return nil, nil, nil, err
	}
	file := w.Model.Pos.File
	text, err := shortened(w.Model)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, f := range found {
		printed = append(printed, f.Finding)
		for _, p := range f.Applied {
			apply := func() (*model.Model, error) { return edited(file, text, p.Edit) }
			all = append(all, Proposed{f.Finding, apply})
		}
	}
	base, err = edited(file, text, nil)
	return printed, all, base, err
}
