package rule

import (
	"cmp"
	"context"
	"slices"

	"github.com/sortkey/sortkey/internal/design/dataset"
)

// Run applies rules to a dataset, whose database must be open, and tries their proposals. It sorts the findings by
// their place in the file, then by severity, the most severe first, then in the order of the rules. Run fails if ctx
// is done or the database cannot be read.
func Run(ctx context.Context, w *dataset.Dataset, rules []Rule) ([]*Finding, error) {
	st, err := newStudy(ctx, w)
	if err != nil {
		return nil, err
	}
	found, err := st.look(rules)
	if err != nil {
		return nil, err
	}
	if err := st.try(found, rules); err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b *Finding) int {
		return cmp.Or(
			cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col), cmp.Compare(b.Severity, a.Severity),
		)
	})
	return found, nil
}
