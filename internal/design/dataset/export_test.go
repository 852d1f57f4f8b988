package dataset

import (
	"context"

	"github.com/sortkey/sortkey/internal/design/model"
)

var Power = power

// Factor returns the average size of a declared group of an entity's rows in a partition, as a multiple of the
// average size of the generated groups.
func (w *Dataset) Factor(ctx context.Context, e *model.Entity) (float64, error) {
	space, err := w.Space(ctx, e.Table, nil)
	if err != nil {
		return 0, err
	}
	growth, made := w.Growth(space), 0
	all := w.census(e, growth.by(e))
	for _, group := range growth.counts[e] {
		made += group.n
	}
	return all.sum(all.groups()) / all.groups() / (float64(made) / float64(len(growth.counts[e]))), nil
}
