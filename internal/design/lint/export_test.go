package lint

import (
	"context"

	"github.com/sortkey/sortkey/internal/design/model"
	"github.com/sortkey/sortkey/internal/design/world"
)

// A Proposed is a finding whose advice is a proposal.
type Proposed struct {
	model.Finding
	Apply func() (*model.Model, error)
}

// Proposals returns the findings whose advice is a proposal, and a copy of the
// model without proposals for comparison.
func Proposals(ctx context.Context, w *world.World) (all []Proposed, base *model.Model, err error) {
	l := newLinter(ctx, w)
	if err := l.run(); err != nil {
		return nil, nil, err
	}
	if err := l.settle(); err != nil {
		return nil, nil, err
	}
	for i := range l.found {
		for _, edits := range l.settled[i] {
			all = append(all, Proposed{l.found[i], func() (*model.Model, error) { return edited(w.Model, edits) }})
		}
	}
	base, err = edited(w.Model, nil)
	return all, base, err
}
