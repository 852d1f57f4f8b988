package dataset

import (
	"context"

	"github.com/sortkey/sortkey/internal/design/model"
)

var Power = power

// Factor returns how many times as many rows the partitions of a table have at the declared scale, of the items
// of an entity and on average.
func (w *Dataset) Factor(ctx context.Context, e *model.Entity) (float64, error) {
	space, err := w.Space(ctx, e.Table, nil)
	if err != nil {
		return 0, err
	}
	g := w.Growth(space)
	of := w.scaling(e, g.fields(e))
	return of.then.rows / of.now.rows, nil
}
