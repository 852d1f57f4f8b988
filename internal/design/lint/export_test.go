package lint

import (
	"context"

	"github.com/sortkey/sortkey/internal/design/dataset"
	"github.com/sortkey/sortkey/internal/design/model"
)

var (
	RunRules   = runRules
	OnPattern  = onPattern
	WriteIndex = writeIndex
)

// A Proposed is a finding whose advice is a proposal.
type Proposed struct {
	model.Finding
	Apply func() (*model.Model, error)
}

// Proposals returns the findings of [Run], the findings whose advice is a proposal, and for comparison the model to
// which the proposals apply.
func Proposals(ctx context.Context, w *dataset.Dataset) (printed []model.Finding, all []Proposed, base *model.Model, err error) {
	found, err := runRules(ctx, w, Rules())
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
